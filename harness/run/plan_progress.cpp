#include "harness/run/plan_progress.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/base/share.hpp"

namespace hilbench {
namespace {

constexpr double kEvery_s = 1;

}  // namespace

PlanProgress::PlanProgress(std::FILE* stream, StatusLine::Style style, double long_s)
    : line_(stream, style),
      long_s_(style == StatusLine::Style::updating ? std::min(kEvery_s, long_s) : long_s),
      thread_(std::chrono::duration<double>(std::min(kEvery_s, long_s_)), [this] { tell(); }) {}

void PlanProgress::counting(const std::string& name) {
  const std::lock_guard lock(thread_.mutex());
  name_ = name;
  since_ = std::chrono::steady_clock::now();
  tell_s_ = long_s_;
}

void PlanProgress::tell() {
  if (name_.empty()) return;
  const double taken_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - since_).count();
  if (taken_s < tell_s_) return;
  // The time first: a terminal may be too narrow for the name.
  line_.show(fmt::format("plan, {} so far: count the pairs of {}", duration_text(taken_s), name_));
  if (line_.style() == StatusLine::Style::updating) return;
  while (tell_s_ <= taken_s) tell_s_ *= 2;
}

}  // namespace hilbench
