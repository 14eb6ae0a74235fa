// What a person sees while a sweep runs: on a terminal one line that is updated, elsewhere plain lines.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

#include "harness/measure/comparison_task.hpp"

namespace hilbench {

class Progress {
 public:
  enum class Style { updating, plain, silent };
  Progress(std::FILE* stream, Style style) : stream_(stream), style_(style) {}
  // Updating if `stream` is a terminal, else plain.
  static Progress for_stream(std::FILE* stream);
  ~Progress();

  // `seconds_expected`: the timing budget of all comparisons to come, an upper bound of the time left.
  void begin(std::int64_t comparisons, double seconds_expected);
  void comparison(const std::string& case_id, double budget_s);
  void event(const TaskEvent& event);
  void settled(const std::string& outcome);  // the result of the current comparison, as text
  void note(const std::string& line);

 private:
  void show(const std::string& line);
  void print(const std::string& text);
  double seconds_left() const;

  std::FILE* stream_;
  Style style_;
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
