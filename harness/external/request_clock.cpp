#include "harness/external/request_clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kernels/base/text/error.hpp"

namespace hilbench {
namespace {

// Two clocks differ by less, and so does what is measured with them.
constexpr double kClocksDiffer = 0.02, kSurelyMore_ns = 1e5;
// Of a program that does not answer requests without executions.
constexpr double kUnknownOverhead_ns = 5e6;
// For each execution on a GPU, and in a ring of several processes.
constexpr double kHost_ns = 2e5, kHostOfRing_ns = 5e6;
constexpr double kLeastShare = 0.5;
constexpr double kJudgedFrom_ns = 2e7;  // below, one interruption of the program could decide
// Less than this share of the time that passed is a wrong unit: milliseconds in the place of nanoseconds are
// a millionth, and no execution is that much shorter than its request.
constexpr double kWrongUnit = 1e-5;

double host_ns_of(const Case& work) {
  if (work.ring_size > 1) return kHostOfRing_ns;
  return work.device == DeviceKind::cuda ? kHost_ns : 0;
}

}  // namespace

RequestClock::RequestClock(std::string name, const Case& work)
    : name_(std::move(name)), on_processor_(work.device == DeviceKind::cpu), host_ns_(host_ns_of(work)) {}

void RequestClock::note_empty(double wall_ns) {
  requests_.empty_ns = requests_.empty_ns == 0 ? wall_ns : std::min(requests_.empty_ns, wall_ns);
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
  expect_enough();
  return true;
}

void RequestClock::expect_enough() const {
  double left_ns = requests_.wall_ns - static_cast<double>(requests_.count) * overhead_ns() -
                   static_cast<double>(requests_.executions) * host_ns_;
  // On a busy machine a request waits for a processor before and after what the program times.
  if (on_processor_) left_ns = std::min(left_ns, requests_.processor_ns);
  if (left_ns > kJudgedFrom_ns && requests_.reported_ns < kLeastShare * left_ns)
    refuse(requests_.reported_ns, requests_.wall_ns,
           fmt::format("less than half of what passed in {} requests", requests_.count));
}

void RequestClock::expect_alike(double of_two_ns, double of_many_ns, std::int64_t many) const {
  if (of_many_ns >= kLeastShare * of_two_ns) return;
  throw EnvironmentError({.what = fmt::format("'{}' reports {:.3g} ns or less for each of {} executions, and "
                                              "{:.3g} ns or more for each of 2",
                                              name_, of_many_ns, many, of_two_ns),
                          .why = "it does not compute in each execution"});
}

void RequestClock::note_busy(double busy_ns, double reported_ns) {
  if (busy_ns < kLeastShare * reported_ns)
    return;  // the counter of the GPU did not follow: it lags by up to a second
  requests_.busy_ns = busy_ns;
  requests_.busy_reported_ns = reported_ns;
  if (reported_ns >= kLeastShare * busy_ns) return;
  throw EnvironmentError(
      {.what = fmt::format("'{}' reports {:.3g} ns for executions in which its GPU was busy "
                           "for {:.3g} ns",
                           name_, reported_ns, busy_ns),
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
