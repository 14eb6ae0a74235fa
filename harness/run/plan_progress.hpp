// What a person sees while a plan is made: it takes long if an order scatters windows over a large grid.
#pragma once

#include <chrono>
#include <string>

#include "harness/run/progress.hpp"
#include "harness/run/repeating_thread.hpp"

namespace hilbench {

// A thread of its own tells for how long the pairs of one variant have been counted: on a terminal every now
// and then, elsewhere after `long_s`, and again each time that it has taken twice as long.
class PlanProgress {
 public:
  explicit PlanProgress(std::FILE* stream, StatusLine::Style style, double long_s = 30);

  // `name`: CASE/VARIANT, whose pairs are counted from now on.
  void counting(const std::string& name);

 private:
  void tell();

  StatusLine line_;
  const double long_s_;
  std::string name_;
  std::chrono::steady_clock::time_point since_;
  double tell_s_ = 0;  // how long it takes when a line says so
  RepeatingThread thread_;
};

}  // namespace hilbench
