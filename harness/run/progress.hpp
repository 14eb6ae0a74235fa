// What a person sees while a sweep runs: one updating line on a terminal, plain lines elsewhere.
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
  // Updating where `stream` is a terminal, else plain.
  static Progress for_stream(std::FILE* stream);
  ~Progress();

  // `seconds_expected`: timing budget of all comparisons to come, an upper bound of what is left.
  void begin(std::int64_t comparisons, double seconds_expected);
  void comparison(const std::string& case_id, double budget_s);
  void event(const TaskEvent& event);
  void settled(const std::string& outcome);  // of the comparison in flight, as text
  void note(const std::string& line);

 private:
  void show(const std::string& line);
  void print(const std::string& text);
  double seconds_left() const;

  std::FILE* stream_;
  Style style_;
  std::int64_t comparisons_ = 0;
  std::int64_t current_ = 0;
  double expected_after_s_ = 0;  // budgets of the comparisons after the one in flight
  double spent_share_ = 1;       // what comparisons took of their budget so far
  double budget_s_ = 0;
  std::string case_id_;
  std::chrono::steady_clock::time_point started_;
};

// "45 s", "3 min 20 s", "2 h 5 min"
std::string duration_text(double seconds);

}  // namespace hilbench
