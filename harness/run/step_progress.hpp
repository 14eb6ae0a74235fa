// What a person sees while a command takes long to compute something: a plan whose orders scatter windows
// over a large grid, predictions for rings of many ranks.
#pragma once

#include <chrono>
#include <string>

#include "harness/run/progress.hpp"
#include "harness/run/repeating_thread.hpp"

namespace hilbench {

// A thread of its own tells for how long the command has worked, and at which step it is: on a terminal every
// now and then, elsewhere after `long_s`, and again each time that it has taken twice as long.
class StepProgress {
 public:
  StepProgress(std::FILE* stream, StatusLine::Style style, std::string command, double long_s = 30);

  // `step` begins: "count the pairs of CASE/VARIANT".
  void begin(const std::string& step);

 private:
  void tell();

  StatusLine line_;
  const std::string command_;
  const double long_s_;
  const std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  std::string step_;
  double tell_s_;  // how long it has taken when a line says so
  RepeatingThread thread_;
};

}  // namespace hilbench
