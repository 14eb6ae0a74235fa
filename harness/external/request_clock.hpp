// Holds the times that a program reports against the clock on the wall.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/case/case.hpp"
#include "reports/records/record.hpp"

namespace hilbench {

// What passed during one request for timed executions.
struct RequestTimes {
  std::int64_t executions = 0;
  double reported_ns = 0;   // by the program, for all of them
  double wall_ns = 0;       // from asking to the answer
  double processor_ns = 0;  // that the program used meanwhile
  // For a core, by the program and by us; nothing if the system does not say.
  std::optional<double> waited_ns = std::nullopt;
};

// A program computes between a request and its answer. So what it reports for the executions cannot be more
// than what passed. It cannot be less than half of it either, once what a request takes by itself and waits
// for a core are taken off, and on a GPU some time for the host besides, for each execution; executions that
// the program says it does not report count as if they had been. Where the system
// does not report waits, it is held on a processor against the processor time that the program used, if that
// is less.
class RequestClock {
 public:
  // `name` of the program, for messages; `threads`: that the case gives it.
  RequestClock(std::string name, const Case& work, int threads);

  // `count` executions go before those of each request and are not reported; they take as long.
  void expect_untimed(int count) { untimed_ = count; }
  // Each execution is recorded by CUPTI, which takes the host far longer than a short kernel the GPU.
  void expect_kernel_records();
  // `shared` says whether other programs use the GPU. Where they do, too little is not refused: what passed
  // may be their work. The record says that they do, and gets no verdict.
  void allow_for_others(std::function<bool()> shared) { shared_ = std::move(shared); }

  // What a request without executions took; the shortest of several counts, as far as it may be long. A
  // program that sleeps in it gains nothing on a processor, where its processor time counts.
  void note_empty(const RequestTimes& request);
  // Throws EnvironmentError if the reported times cannot be true: those of several requests, without the one
  // that took longest beside what it reports, which other work on the machine may have stretched. Returns
  // false if one more execution must tell: so little was reported that the unit seems wrong, but parts of the
  // program may have been starting.
  [[nodiscard]] bool note(const RequestTimes& request);

  // At the end, if there were too few requests to leave one out: throws as note() does.
  void expect_enough_of_few() const;
  // Of executions alone in their requests: throws EnvironmentError if what is reported of them cannot be
  // true.
  void expect_enough(const std::vector<RequestTimes>& alone) const;
  // An execution alone cannot take much longer than one beside others in its request, `beside_ns` by the
  // reported times. Throws EnvironmentError.
  void expect_alike(const std::vector<RequestTimes>& alone, double beside_ns) const;
  // Throws EnvironmentError if the program has used more cores than the case has threads.
  void expect_cores() const;
  // In a request of its own its GPU was busy for this long: its counter may lag, so it may have seen less of
  // the request, or work before it. Less than half of what was reported is no measure. Returns false if less
  // than half of it was reported: a request between pauses must tell, and then expect_busy() throws.
  [[nodiscard]] bool note_busy(double busy_ns, double reported_ns);
  // Throws EnvironmentError if less than half of what note_busy() was told last was reported.
  void expect_busy() const;

  const Requests& requests() const { return requests_; }

 private:
  RequestTimes all() const;
  void expect_enough(const RequestTimes& requests, std::int64_t count) const;
  // Of what passed in `count` requests, what their executions must have taken.
  double left_ns(const RequestTimes& requests, std::int64_t count) const;
  // What all executions of `count` requests took, if those that are not reported took as long as the others.
  double claimed_ns(const RequestTimes& requests, std::int64_t count) const;
  [[noreturn]] void refuse(double reported_ns, double wall_ns, const std::string& why) const;
  double overhead_ns() const;  // of a request
  bool is_shared() const { return shared_ && shared_(); }

  std::string name_;
  bool on_processor_, in_ring_;
  int threads_;
  double host_ns_;  // for each execution
  std::function<bool()> shared_;
  bool started_ = false;
  bool waits_known_ = true;
  int untimed_ = 0;  // executions of a request
  int doubts_ = 0;
  Requests requests_;
  RequestTimes furthest_;  // of the requests, the one with the most time beside what it reports
};

}  // namespace hilbench
