// Holds the times that a program reports against the clock on the wall.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/case/case.hpp"
#include "reports/records/record.hpp"

namespace hilbench {

// What passed during one request for timed executions.
struct RequestTimes {
  std::int64_t executions = 0;
  double reported_ns = 0;   // by the program, for all of them
  double wall_ns = 0;       // from asking to the answer
  double processor_ns = 0;  // that the program used meanwhile
};

// A program computes between a request and its answer. So what it reports for the executions cannot be more
// than what passed. It cannot be less than half of it either, once what a request takes by itself is taken
// off, and on a GPU some time for the host besides, for each execution. On a processor it is held against the
// processor time that the program used, if that is less than what passed.
class RequestClock {
 public:
  // `name` of the program, for messages.
  RequestClock(std::string name, const Case& work);

  // What a request without executions took; the shortest of several counts.
  void note_empty(double wall_ns);
  // Throws EnvironmentError if the reported times cannot be true. Returns false if one more execution must
  // tell: so little was reported that the unit seems wrong, but parts of the program may have been starting.
  [[nodiscard]] bool note(const RequestTimes& request);

  // Reported for an execution of two, the shortest, and for one of many in a request, the longest. Throws
  // EnvironmentError if the more executions are asked for, the shorter each is said to be.
  void expect_alike(double of_two_ns, double of_many_ns, std::int64_t many) const;
  // In a request of its own its GPU was busy for this long, or longer: its counter may lag. Less than half of
  // what was reported is no measure. Throws EnvironmentError if less than half of it was reported.
  void note_busy(double busy_ns, double reported_ns);

  const Requests& requests() const { return requests_; }

 private:
  void expect_enough() const;
  [[noreturn]] void refuse(double reported_ns, double wall_ns, const std::string& why) const;
  double overhead_ns() const;  // of a request

  std::string name_;
  bool on_processor_;
  double host_ns_;  // for each execution
  bool started_ = false;
  int doubts_ = 0;
  Requests requests_;
};

}  // namespace hilbench
