#include "harness/run/step_progress.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>
#include <thread>

namespace hilbench {
namespace {

constexpr std::chrono::milliseconds kWait{5};

struct Shown {
  std::unique_ptr<std::FILE, decltype(&std::fclose)> file{std::tmpfile(), &std::fclose};
  std::string text() const {
    std::fflush(file.get());
    std::string read(static_cast<std::size_t>(std::ftell(file.get())), '\0');
    std::rewind(file.get());
    read.resize(std::fread(read.data(), 1, read.size(), file.get()));
    return read;
  }
};

std::string shown_in(StatusLine::Style style, double long_s, std::chrono::milliseconds time) {
  const Shown shown;
  {
    StepProgress progress(shown.file.get(), style, "plan", long_s);
    progress.begin("count the pairs of case/dilated/linear");
    progress.begin("count the pairs of case/dilated/random");
    std::this_thread::sleep_for(time);
  }
  return shown.text();
}

TEST(StepProgress, SaysAtWhichStepWhatTakesLongIs) {
  const std::string line = "plan, 0 s so far: count the pairs of case/dilated/random";
  const std::string plain = shown_in(StatusLine::Style::plain, 0.02, 20 * kWait);
  EXPECT_EQ(plain.find(line + "\n"), 0u) << plain;
  const std::string updating = shown_in(StatusLine::Style::updating, 0.02, 20 * kWait);
  EXPECT_EQ(updating.find("\r\033[K" + line), 0u) << updating;
  EXPECT_TRUE(updating.ends_with("\r\033[K")) << "the line goes when the command is done";
}

TEST(StepProgress, SaysNothingOfWhatIsShortOrIfNobodyAsks) {
  EXPECT_EQ(shown_in(StatusLine::Style::plain, 30, kWait), "");
  EXPECT_EQ(shown_in(StatusLine::Style::silent, 0.001, 4 * kWait), "");
}

}  // namespace
}  // namespace hilbench
