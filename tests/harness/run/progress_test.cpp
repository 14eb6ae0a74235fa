#include "harness/run/progress.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

#include "kernels/base/text/share.hpp"

namespace hilbench {
namespace {

using File = std::unique_ptr<std::FILE, decltype(&std::fclose)>;

File temporary_file() {
  return {std::tmpfile(), &std::fclose};
}

std::string content(std::FILE* file) {
  std::string text;
  std::rewind(file);
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
  return text;
}

// Ten seconds of timing.
constexpr ExpectedTime kTenSeconds = {.round_s = 1, .budget_s = 10};

void show_one_comparison(Progress& progress) {
  progress.begin({kTenSeconds, kTenSeconds});
  progress.comparison("case-a");
  progress.event({.phase = Phase::time, .variant_id = "dilated/hilbert", .round = 4});
  progress.settled("3 ok, 1 failed");
}

TEST(Progress, WritesDurationsForPeople) {
  EXPECT_EQ(duration_text(0), "0 s");
  EXPECT_EQ(duration_text(44.6), "45 s");
  EXPECT_EQ(duration_text(59.6), "1 min 0 s");
  EXPECT_EQ(duration_text(200), "3 min 20 s");
  EXPECT_EQ(duration_text(7500), "2 h 5 min");
}

TEST(Progress, WritesPlainLinesWhereNobodyWatches) {
  const File file = temporary_file();
  {
    Progress progress = Progress::for_stream(file.get());
    show_one_comparison(progress);
    progress.note("a note");
  }
  EXPECT_EQ(content(file.get()), "[1/2] case-a (about 22 s left)\n    3 ok, 1 failed in 0 s\na note\n");
}

TEST(Progress, LogsWhatTheTimeWentTo) {
  const File file = temporary_file();
  Progress progress(file.get(), Progress::Style::plain);
  progress.begin({kTenSeconds});
  progress.comparison("case-a");
  progress.event({.phase = Phase::verify, .variant_id = "dilated/linear"});
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  progress.event({.phase = Phase::time, .variant_id = "dilated/linear"});
  progress.settled("1 ok");
  const std::string text = content(file.get());
  EXPECT_NE(text.find("1 ok in 0 s: verify 0.1 s\n"), std::string::npos) << text;
}

TEST(Progress, LogsWhatTakesLongWhileItDoes) {
  const File file = temporary_file();
  Progress progress(file.get(), Progress::Style::plain, 0.1);
  progress.begin({kTenSeconds});
  progress.comparison("case-a");
  progress.event({.phase = Phase::verify, .variant_id = "quick"});
  const TaskEvent slow = {.phase = Phase::verify, .variant_id = "slow"};
  const std::string line = "    verify slow: ";
  std::string text;
  const auto lines = [&] {  // a second one when it has taken twice as long
    text = content(file.get());
    const std::size_t first = text.find(line);
    return first == std::string::npos ? 0 : text.find(line, first + 1) == std::string::npos ? 1 : 2;
  };
  for (int repeats = 0; repeats < 500 && lines() < 2; ++repeats) {
    progress.event(slow);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_EQ(lines(), 2) << text;
  EXPECT_EQ(text.find("quick"), std::string::npos) << text;
}

TEST(Progress, SaysWhatIsLeftByWhatEarlierComparisonsTook) {
  const File file = temporary_file();
  Progress progress(file.get(), Progress::Style::plain);
  show_one_comparison(progress);
  progress.comparison("case-b");
  EXPECT_NE(content(file.get()).find("[2/2] case-b (less than 1 s left)"), std::string::npos)
      << content(file.get());
}

TEST(Progress, UpdatesOneLineThatFitsTheTerminal) {
  const File file = temporary_file();
  {
    Progress progress(file.get(), Progress::Style::updating);
    progress.begin({kTenSeconds});
    progress.comparison(std::string(200, 'c'));
    progress.event({.phase = Phase::time, .variant_id = "dilated/hilbert", .round = 4});
  }
  const std::string text = content(file.get());
  const std::string clear = "\r\033[K";
  ASSERT_TRUE(text.starts_with(clear + "[1/1] about 12 s left, time dilated/hilbert round 5: ccc")) << text;
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_EQ(text.size(), 2 * clear.size() + 79) << "80 columns where the stream is no terminal";
}

// The last line that a terminal shows while the last of `steps` is verified for `time`.
std::string shown_after(const std::vector<ExpectedTime>& steps, std::chrono::milliseconds time) {
  const File file = temporary_file();
  Progress progress(file.get(), Progress::Style::updating);
  progress.begin(steps);
  progress.comparison("case-a");
  progress.event({.phase = Phase::verify, .variant_id = "dilated/linear"});
  std::this_thread::sleep_for(time);
  progress.event({.phase = Phase::verify, .variant_id = "dilated/linear"});
  const std::string text = content(file.get());
  return text.substr(text.rfind("\033[K") + 3);
}

TEST(Progress, SaysThatAStepTakesLongerThanPlanned) {
  constexpr std::chrono::milliseconds kLong{1100};
  constexpr ExpectedTime kShort = {.before_s = 0.1};
  EXPECT_EQ(shown_after({kShort}, kLong), "[1/1] longer than planned, verify dilated/linear: case-a");
  EXPECT_EQ(shown_after({kShort, kTenSeconds}, kLong),
            "[1/2] more than 10 s left, verify dilated/linear: case-a")
      << "what comes is known";
  EXPECT_EQ(shown_after({kShort}, {}), "[1/1] less than 1 s left, verify dilated/linear: case-a");
}

TEST(Progress, UpdatesWhatIsLeftWithinAStep) {
  constexpr ExpectedTime kVerified = {.before_s = 0.1, .round_s = 1, .budget_s = 10, .fewest_rounds_s = 6};
  const std::string text = shown_after({kVerified}, std::chrono::milliseconds(500));
  EXPECT_TRUE(text.starts_with("[1/1] about ")) << text;
  EXPECT_FALSE(text.starts_with("[1/1] about 1")) << "five times as slow as planned: " << text;
}

TEST(StatusLine, IsALineLikeOthersWhereNobodyWatchesAndGoesOnATerminal) {
  for (const auto& [style, expected] :
       {std::pair{StatusLine::Style::plain, "at work\ndone\n"},
        std::pair{StatusLine::Style::updating, "\r\033[Kat work\r\033[Kdone\n\r\033[K"},
        std::pair{StatusLine::Style::silent, ""}}) {
    const File file = temporary_file();
    {
      StatusLine line(file.get(), style);
      line.show("at work");
      line.print("done");
    }
    EXPECT_EQ(content(file.get()), expected);
  }
}

TEST(Progress, SilentWritesNothing) {
  const File file = temporary_file();
  {
    Progress progress(file.get(), Progress::Style::silent);
    show_one_comparison(progress);
    progress.note("a note");
  }
  EXPECT_EQ(content(file.get()), "");
}

TEST(Progress, OutlivesItsStream) {
  const File full(std::fopen("/dev/full", "w"), &std::fclose);
  ASSERT_TRUE(full);
  Progress progress(full.get(), Progress::Style::plain);
  EXPECT_NO_THROW(show_one_comparison(progress));
}

}  // namespace
}  // namespace hilbench
