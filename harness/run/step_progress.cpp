#include "harness/run/step_progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kernels/base/text/share.hpp"

namespace hilbench {
namespace {

constexpr double kEvery_s = 1;

}  // namespace

StepProgress::StepProgress(std::FILE* stream, StatusLine::Style style, std::string command, double long_s)
    : line_(stream, style),
      command_(std::move(command)),
      long_s_(style == StatusLine::Style::updating ? std::min(kEvery_s, long_s) : long_s),
      tell_s_(long_s_),
      thread_(std::chrono::duration<double>(std::min(kEvery_s, long_s_)), [this] { tell(); }) {}

void StepProgress::begin(const std::string& step) {
  const std::lock_guard lock(thread_.mutex());
  step_ = step;
}

void StepProgress::tell() {
  if (step_.empty()) return;
  const double taken_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - since_).count();
  if (taken_s < tell_s_) return;
  // The time first: a terminal may be too narrow for the step.
  line_.show(fmt::format("{}, {} so far: {}", command_, duration_text(taken_s), step_));
  if (line_.style() == StatusLine::Style::updating) return;
  while (tell_s_ <= taken_s) tell_s_ *= 2;
}

}  // namespace hilbench
