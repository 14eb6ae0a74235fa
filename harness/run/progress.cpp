#include "harness/run/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

namespace hilbench {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

constexpr const char* kClearLine = "\r\033[K";
constexpr std::size_t kWidthOtherwise = 80;  // if the terminal does not give its width

// A longer line would wrap, and then only its last row would be cleared.
std::size_t terminal_width(std::FILE* stream) {
  winsize size = {};
  const bool told = ::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return told ? size.ws_col : kWidthOtherwise;
}

}  // namespace

StatusLine::Style StatusLine::style_for(std::FILE* stream) {
  return ::isatty(::fileno(stream)) != 0 ? Style::updating : Style::plain;
}

void StatusLine::show(const std::string& line) {
  if (style_ == Style::updating)
    write(kClearLine + line.substr(0, terminal_width(stream_) - 1));
  else
    print(line);
}

void StatusLine::print(const std::string& line) {
  if (style_ != Style::silent) write(fmt::format("{}{}\n", style_ == Style::updating ? kClearLine : "", line));
}

void StatusLine::clear() {
  if (style_ == Style::updating) write(kClearLine);
}

void StatusLine::write(const std::string& text) {
  std::fputs(text.c_str(), stream_);
  std::fflush(stream_);
}

void Progress::begin(std::int64_t comparisons, double seconds_expected) {
  comparisons_ = comparisons;
  expected_after_s_ = seconds_expected;
}

void Progress::comparison(const std::string& case_id, double budget_s) {
  ++current_;
  case_id_ = case_id;
  budget_s_ = budget_s;
  expected_after_s_ -= budget_s;
  started_ = std::chrono::steady_clock::now();
  if (line_.style() == Style::plain)
    line_.print(fmt::format("[{}/{}] {} (about {} left)", current_, comparisons_, case_id,
                            duration_text(seconds_left())));
}

double Progress::seconds_left() const {
  return std::max(0.0, budget_s_ * spent_share_ - seconds_since(started_)) + expected_after_s_ * spent_share_;
}

void Progress::event(const TaskEvent& event) {
  if (line_.style() != Style::updating) return;
  std::string at = fmt::format("{} {}", to_string(event.phase), event.variant_id);
  if (event.phase == Phase::time) at += fmt::format(" round {}", event.round + 1);
  line_.show(fmt::format("[{}/{}] {}: {}, about {} left", current_, comparisons_, case_id_, at,
                         duration_text(seconds_left())));
}

void Progress::settled(const std::string& outcome) {
  const double took = seconds_since(started_);
  if (budget_s_ > 0) spent_share_ = took / budget_s_;
  const std::string before =
      line_.style() == Style::plain ? "    " : fmt::format("[{}/{}] {}: ", current_, comparisons_, case_id_);
  line_.print(fmt::format("{}{} in {}", before, outcome, duration_text(took)));
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(seconds + 0.5);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

}  // namespace hilbench
