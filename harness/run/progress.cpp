#include "harness/run/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "kernels/base/text/share.hpp"

namespace hilbench {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

constexpr const char* kClearLine = "\r\033[K";

}  // namespace

StatusLine::Style StatusLine::style_for(std::FILE* stream) {
  return ::isatty(::fileno(stream)) != 0 ? Style::updating : Style::plain;
}

void StatusLine::show(const std::string& line) {
  if (style_ != Style::updating) return print(line);
  // A longer line would wrap, and then only its last row would be cleared.
  const std::size_t width = screen().width > 0 ? screen().width : kWidthOtherwise;
  write(kClearLine + line.substr(0, width - 1));
}

void StatusLine::print(const std::string& line) {
  if (style_ != Style::silent)
    write(fmt::format("{}{}\n", style_ == Style::updating ? kClearLine : "", line));
}

void StatusLine::clear() {
  if (style_ == Style::updating) write(kClearLine);
}

void StatusLine::write(const std::string& text) {
  std::fputs(text.c_str(), stream_);
  std::fflush(stream_);
}

void Progress::begin(std::vector<ExpectedTime> steps) {
  steps_ = std::move(steps);
  current_ = 0;
  expect_later();
}

void Progress::expect_later() {
  later_s_ = 0;
  for (std::size_t i = current_; i < steps_.size(); ++i) later_s_ += pace_.seconds(steps_[i]);
}

void Progress::comparison(const std::string& case_id) {
  if (current_ < steps_.size()) ++current_;
  case_id_ = case_id;
  spent_s_ = {};
  rounds_ = 0;
  spent_until_s_ = 0;
  at_work_.clear();
  phase_ = Phase::prepare;
  if (current_ > 0) later_s_ = std::max(0.0, later_s_ - pace_.seconds(steps_[current_ - 1]));
  started_ = std::chrono::steady_clock::now();
  if (line_.style() == Style::plain)
    line_.print(fmt::format("[{}/{}] {} ({})", current_, steps_.size(), case_id, left_text()));
}

SpentTime Progress::spent() const {
  const auto [prepare_s, verify_s, time_s, count_s] = spent_s_;
  return {.before_s = prepare_s + verify_s, .timing_s = time_s, .after_s = count_s, .rounds = rounds_};
}

std::string Progress::left_text() const {
  constexpr double kShown_s = 0.5;    // less is 0 s
  constexpr double kUnnoticed_s = 1;  // a step that should take no time may take as much
  const StepPart part = phase_ == Phase::time    ? StepPart::timing
                        : phase_ == Phase::count ? StepPart::after
                                                 : StepPart::before;
  const double current_s = current_ > 0 ? pace_.seconds_left(steps_[current_ - 1], spent(), part) : 0;
  if (current_s < kShown_s && spent_until_s_ >= kUnnoticed_s)
    return later_s_ < kShown_s ? "longer than planned"
                               : fmt::format("more than {} left", duration_text(later_s_));
  const double left_s = current_s + later_s_;
  return left_s < kShown_s ? "less than 1 s left" : fmt::format("about {} left", duration_text(left_s));
}

void Progress::spend() {
  const double now_s = seconds_since(started_);
  spent_s_[static_cast<std::size_t>(phase_)] += now_s - std::exchange(spent_until_s_, now_s);
}

void Progress::event(const TaskEvent& event) {
  spend();
  phase_ = event.phase;
  if (event.phase == Phase::time) rounds_ = std::max(rounds_, event.round + 1);
  std::string at(to_string(event.phase));
  if (!event.variant_id.empty()) at += " " + event.variant_id;
  if (line_.style() == Style::plain) log_wait(at);
  if (line_.style() != Style::updating) return;
  if (event.phase == Phase::time) at += fmt::format(" round {}", event.round + 1);
  // The case's name comes last: a terminal may be too narrow for it.
  line_.show(fmt::format("[{}/{}] {}, {}: {}", current_, steps_.size(), left_text(), at, case_id_));
}

void Progress::log_wait(const std::string& at) {
  if (at != at_work_) {
    at_work_ = at;
    at_work_since_s_ = spent_until_s_;
    tell_s_ = long_s_;
  }
  const double taken_s = spent_until_s_ - at_work_since_s_;
  if (taken_s < tell_s_) return;
  line_.print(fmt::format("    {}: {} so far", at, duration_text(taken_s)));
  while (tell_s_ <= taken_s) tell_s_ *= 2;
}

void Progress::settled(const std::string& outcome) {
  spend();
  const double took = spent_until_s_;
  if (current_ > 0 && steps_[current_ - 1].total_s() > 0) {  // there may be a million that are skipped
    pace_.learn(steps_[current_ - 1], spent());
    expect_later();
  }
  if (line_.style() != Style::plain) {
    line_.print(
        fmt::format("[{}/{}] {}: {} in {}", current_, steps_.size(), case_id_, outcome, duration_text(took)));
    return;
  }
  // A log tells what the time went to.
  std::string phases;
  for (const Phase phase : kPhases) {
    const double phase_s = spent_s_[static_cast<std::size_t>(phase)];
    if (phase_s >= 0.05)
      phases += fmt::format("{}{} {:.1f} s", phases.empty() ? ": " : ", ", to_string(phase), phase_s);
  }
  line_.print(fmt::format("    {} in {}{}", outcome, duration_text(took), phases));
}

}  // namespace hilbench
