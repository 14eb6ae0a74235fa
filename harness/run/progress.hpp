// What a person sees while a sweep runs: on a terminal one line that is updated, elsewhere plain lines.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "harness/measure/comparison_task.hpp"
#include "harness/run/pace.hpp"
#include "reports/terminal/screen.hpp"

namespace hilbench {

// The line that is updated. Failures of the stream are ignored: a closed pipe must not end a run.
class StatusLine {
 public:
  enum class Style { updating, plain, silent };
  StatusLine(std::FILE* stream, Style style) : stream_(stream), style_(style) {}
  explicit StatusLine(std::FILE* stream) : StatusLine(stream, style_for(stream)) {}
  // Updating if `stream` is a terminal, else plain.
  static Style style_for(std::FILE* stream);
  ~StatusLine() { clear(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  Style style() const { return style_; }
  Screen screen() const { return screen_of(stream_); }
  void show(const std::string& line);   // until the next line; if plain, a line like others
  void print(const std::string& line);  // stays
  void clear();

 private:
  void write(const std::string& text);

  std::FILE* stream_;
  Style style_;
};

class Progress {
 public:
  using Style = StatusLine::Style;
  // If plain, a line says what has been at work for `long_s`, and again each time that it has taken twice as
  // long.
  Progress(std::FILE* stream, Style style, double long_s = 30) : line_(stream, style), long_s_(long_s) {}
  static Progress for_stream(std::FILE* stream) { return Progress(stream, StatusLine::style_for(stream)); }

  // `steps`: what each process of each comparison to come is expected to take, in their sequence.
  void begin(std::vector<ExpectedTime> steps);
  void comparison(const std::string& case_id);  // the next step
  void event(const TaskEvent& event);  // the last one again, every now and then, while a worker is silent
  void settled(const std::string& outcome);  // the result of the current step, as text
  void note(const std::string& line) { line_.print(line); }

  bool silent() const { return line_.style() == Style::silent; }
  Screen screen() const { return line_.screen(); }
  std::int64_t steps() const { return static_cast<std::int64_t>(steps_.size()); }
  // How long such a step takes here, by those that are done.
  double seconds(const ExpectedTime& step) const { return pace_.seconds(step); }

 private:
  SpentTime spent() const;        // by the current step, until spent_until_s_
  std::string left_text() const;  // "about 2 min 5 s left"
  void log_wait(const std::string& at);
  void spend();         // counts the time since the last event for its phase
  void expect_later();  // renews what is expected of the steps after the current one, by the pace so far

  StatusLine line_;
  std::vector<ExpectedTime> steps_;
  std::size_t current_ = 0;  // from 1; 0: none has begun
  Pace pace_;
  double later_s_ = 0;                            // expected of the steps after the current one
  std::array<double, kPhases.size()> spent_s_{};  // in each phase of the current step, until spent_until_s_
  std::int64_t rounds_ = 0;                       // of the current step, that have begun
  double spent_until_s_ = 0;
  Phase phase_ = Phase::prepare;  // since then
  std::string case_id_;
  const double long_s_;
  std::string at_work_;                      // phase and variant
  double at_work_since_s_ = 0, tell_s_ = 0;  // when it began, and how long it takes when a line says so
  std::chrono::steady_clock::time_point started_;
};

}  // namespace hilbench
