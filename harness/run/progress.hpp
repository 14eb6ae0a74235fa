// What a person sees while a sweep runs: on a terminal one line that is updated, elsewhere plain lines.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

#include "harness/measure/comparison_task.hpp"

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
  Progress(std::FILE* stream, Style style) : line_(stream, style) {}
  static Progress for_stream(std::FILE* stream) { return Progress(stream, StatusLine::style_for(stream)); }

  // `seconds_expected`: the timing budget of all comparisons to come, an upper bound of the time left.
  void begin(std::int64_t comparisons, double seconds_expected);
  void comparison(const std::string& case_id, double budget_s);
  void event(const TaskEvent& event);
  void settled(const std::string& outcome);  // the result of the current comparison, as text
  void note(const std::string& line) { line_.print(line); }

 private:
  double seconds_left() const;

  StatusLine line_;
  std::int64_t comparisons_ = 0;
  std::int64_t current_ = 0;
  double expected_after_s_ = 0;  // budgets of the comparisons after the current one
  double spent_share_ = 1;       // the share of their budget that comparisons have used so far
  double budget_s_ = 0;
  std::string case_id_;
  std::chrono::steady_clock::time_point started_;
};

// "45 s", "3 min 20 s", "2 h 5 min"
std::string duration_text(double seconds);

}  // namespace hilbench
