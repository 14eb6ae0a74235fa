#include "harness/external/request_clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kernels/base/text/error.hpp"
#include "reports/records/stats.hpp"

namespace hilbench {
namespace {

// Two clocks differ by less, and so does what is measured with them.
constexpr double kClocksDiffer = 0.02, kSurelyMore_ns = 1e5;
// Of a program that does not answer requests without executions.
constexpr double kUnknownOverhead_ns = 5e6;
constexpr double kMostEmpty_ns = 1e6, kMostEmptyOfRing_ns = 5e6;
// An execution alone meets sleeping threads and cold caches: it may take half as long again, and this much.
// PyTorch took 0.5 ms more on a Zen 4 core whose memory the system had taken back.
constexpr double kAlone = 1.5, kAloneBy_ns = 1e5, kAloneOnProcessorBy_ns = 7e5;
constexpr double kFurtherCores = 0.3;
// For each execution on a GPU, and in a ring of several processes.
constexpr double kHost_ns = 2e5, kHostOfRing_ns = 5e6;
// Beside an H200, to start the records of an execution, to wait for them and to stop them took 0.4 to 0.6 ms.
constexpr double kHostOfRecords_ns = 2e6;
constexpr double kLeastShare = 0.5;
constexpr double kJudgedFrom_ns = 2e7;    // below, one interruption of the program could decide
constexpr std::int64_t kFewRequests = 3;  // fewer are too few to leave one out
// Less than this share of the time that passed is a wrong unit: milliseconds in the place of nanoseconds are
// a millionth, and no execution is that much shorter than its request.
constexpr double kWrongUnit = 1e-5;

double reported_ns(const std::vector<RequestTimes>& requests) {
  std::vector<double> all;
  for (const RequestTimes& request : requests) all.push_back(request.reported_ns);
  return median(all);
}

double beside_ns(const RequestTimes& request) {
  return request.wall_ns - request.waited_ns.value_or(0) - request.reported_ns;
}

double host_ns_of(const Case& work) {
  if (work.ring_size > 1) return kHostOfRing_ns;
  return work.device == DeviceKind::cuda ? kHost_ns : 0;
}

}  // namespace

RequestClock::RequestClock(std::string name, const Case& work, int threads)
    : name_(std::move(name)),
      on_processor_(work.device == DeviceKind::cpu),
      in_ring_(work.ring_size > 1),
      threads_(threads),
      host_ns_(host_ns_of(work)) {}

void RequestClock::expect_kernel_records() {
  host_ns_ = std::max(host_ns_, kHostOfRecords_ns);
}

void RequestClock::note_empty(const RequestTimes& request) {
  double took_ns = std::min(request.wall_ns, in_ring_ ? kMostEmptyOfRing_ns : kMostEmpty_ns);
  if (on_processor_ && !in_ring_) took_ns = std::min(took_ns, std::max(request.processor_ns, 1.0));
  requests_.empty_ns = requests_.empty_ns == 0 ? took_ns : std::min(requests_.empty_ns, took_ns);
}

double RequestClock::overhead_ns() const {
  return requests_.empty_ns > 0 ? requests_.empty_ns : kUnknownOverhead_ns;
}

bool RequestClock::note(const RequestTimes& request) {
  if (request.reported_ns > (1 + kClocksDiffer) * request.wall_ns + kSurelyMore_ns)
    refuse(request.reported_ns, request.wall_ns, "more than passed");
  const double left_ns = request.wall_ns - requests_.empty_ns;
  if (left_ns > kSurelyMore_ns && request.reported_ns < kWrongUnit * left_ns) {
    if (++doubts_ > 1)
      refuse(request.reported_ns, request.wall_ns, "the unit is nanoseconds: are these milliseconds?");
    return false;
  }
  if (!std::exchange(started_, true)) return true;
  ++requests_.count;
  requests_.executions += request.executions;
  requests_.reported_ns += request.reported_ns;
  requests_.wall_ns += request.wall_ns;
  requests_.processor_ns += request.processor_ns;
  requests_.waited_ns += request.waited_ns.value_or(0);
  waits_known_ = waits_known_ && request.waited_ns;
  if (beside_ns(request) > beside_ns(furthest_)) furthest_ = request;
  if (requests_.count < kFewRequests) return true;
  RequestTimes others = all();
  others.executions -= furthest_.executions;
  others.reported_ns -= furthest_.reported_ns;
  others.wall_ns -= furthest_.wall_ns;
  others.processor_ns -= furthest_.processor_ns;
  if (others.waited_ns) *others.waited_ns -= furthest_.waited_ns.value_or(0);
  expect_enough(others, requests_.count - 1);
  return true;
}

void RequestClock::expect_enough_of_few() const {
  if (requests_.count > 0 && requests_.count < kFewRequests) expect_enough(all(), requests_.count);
}

RequestTimes RequestClock::all() const {
  return {.executions = requests_.executions,
          .reported_ns = requests_.reported_ns,
          .wall_ns = requests_.wall_ns,
          .processor_ns = requests_.processor_ns,
          .waited_ns = waits_known_ ? std::optional(requests_.waited_ns) : std::nullopt};
}

double RequestClock::left_ns(const RequestTimes& requests, std::int64_t count) const {
  const double left_ns = requests.wall_ns - requests.waited_ns.value_or(0) -
                         static_cast<double>(count) * overhead_ns() -
                         static_cast<double>(requests.executions + untimed_ * count) * host_ns_;
  return on_processor_ && !requests.waited_ns ? std::min(left_ns, requests.processor_ns) : left_ns;
}

double RequestClock::claimed_ns(const RequestTimes& requests, std::int64_t count) const {
  const double all = static_cast<double>(requests.executions + untimed_ * count);
  return requests.reported_ns * all / static_cast<double>(requests.executions);
}

void RequestClock::expect_enough(const RequestTimes& requests, std::int64_t count) const {
  const double left = left_ns(requests, count);
  if (left > kJudgedFrom_ns && claimed_ns(requests, count) < kLeastShare * left && !is_shared())
    refuse(requests.reported_ns, requests.wall_ns,
           fmt::format("less than half of what passed in {} requests", count));
}

void RequestClock::expect_enough(const std::vector<RequestTimes>& alone) const {
  std::vector<double> left;
  const double reported = reported_ns(alone), claimed = reported * (1 + untimed_);
  for (const RequestTimes& request : alone) left.push_back(left_ns(request, 1));
  if (claimed + kAloneBy_ns < kLeastShare * median(left) && !is_shared())
    refuse(reported, median(left), "less than half of what passed for one execution");
}

void RequestClock::expect_alike(const std::vector<RequestTimes>& alone, double beside_ns) const {
  const double by_ns = on_processor_ ? kAloneOnProcessorBy_ns : kAloneBy_ns;
  if (reported_ns(alone) <= kAlone * beside_ns + by_ns || is_shared()) return;
  throw EnvironmentError({.what = fmt::format("'{}' reports {:.3g} ns for an execution alone in its "
                                              "request, and {:.3g} ns for one beside others",
                                              name_, reported_ns(alone), beside_ns),
                          .why = "it does not compute in each execution"});
}

void RequestClock::expect_cores() const {
  if (!on_processor_ || in_ring_ || requests_.wall_ns < kJudgedFrom_ns) return;
  const double cores = requests_.processor_ns / requests_.wall_ns;
  if (cores <= threads_ + kFurtherCores) return;
  throw EnvironmentError(
      {.what = fmt::format("'{}' used {:.1f} cores while it was timed", name_, cores),
       .why =
           fmt::format("the case has {}", threads_ == 1 ? "1 thread" : fmt::format("{} threads", threads_)),
       .remedy = "docs/external.md says how libraries learn of `threads`"});
}

bool RequestClock::note_busy(double busy_ns, double reported_ns) {
  requests_.busy_ns = requests_.busy_reported_ns = std::nullopt;
  if (busy_ns < kLeastShare * reported_ns) return true;  // the counter of the GPU did not follow
  requests_.busy_ns = busy_ns;
  requests_.busy_reported_ns = reported_ns;
  return reported_ns >= kLeastShare * busy_ns;
}

void RequestClock::expect_busy() const {
  if (!requests_.busy_ns || *requests_.busy_reported_ns >= kLeastShare * *requests_.busy_ns) return;
  if (is_shared()) return;
  throw EnvironmentError(
      {.what = fmt::format("'{}' reports {:.3g} ns for executions in which its GPU was busy "
                           "for {:.3g} ns",
                           name_, *requests_.busy_reported_ns, *requests_.busy_ns),
       .why = "less than half"});
}

void RequestClock::refuse(double reported_ns, double wall_ns, const std::string& why) const {
  throw EnvironmentError(
      {.what = fmt::format("'{}' reports {:.3g} ns for executions between a request and an answer that are "
                           "{:.3g} ns apart",
                           name_, reported_ns, wall_ns),
       .why = why});
}

}  // namespace hilbench
