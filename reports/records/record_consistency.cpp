#include "reports/records/record_consistency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "kernels/base/text/error.hpp"
#include "kernels/base/text/text.hpp"
#include "reports/records/stats.hpp"

namespace hilbench {
namespace {

// Medians are computed from the very samples that are stored. What differs is rounding, also by programs that
// print fewer digits.
constexpr double kRounding = 1e-6;
// No execution takes less than a picosecond, or more than thirty years.
constexpr double kShortest_ns = 1e-3, kLongest_ns = 1e18;
constexpr std::int64_t kMostMultiprocessors = 1 << 16;

[[noreturn]] void refuse(const Record& record, const std::string& why) {
  throw UsageError({.what = "a record contradicts itself",
                    .where = one_line(fmt::format("{}/{}", record.case_id, record.variant_id), 100),
                    .why = why});
}

void check_time(const Record& record) {
  const Timing& time = *record.time;
  if (time.samples_ns.empty()) refuse(record, "it has a time and no samples");
  const auto expect_durations = [&](const std::vector<double>& samples) {
    for (const double sample : samples)
      if (!(sample >= kShortest_ns && sample <= kLongest_ns))  // null is NaN here
        refuse(record, fmt::format("a sample is {}, no duration",
                                   std::isnan(sample) ? "null" : fmt::to_string(sample)));
  };
  expect_durations(time.samples_ns);
  for (const ProtocolTimes& times : time.protocols) expect_durations(times.trials_ns);
  const double found = time_median({time.samples_ns, time.process_rounds});
  const double of_all = median(time.samples_ns);  // what the oldest records hold of several processes
  const auto is_median = [&](double value) { return std::abs(value - time.median_ns) <= kRounding * value; };
  if (!is_median(found) && !is_median(of_all))
    refuse(record, fmt::format("its median is {} ns, that of its samples {} ns", time.median_ns, found));
}

void check_energy(const Record& record) {
  const Energy& energy = *record.energy;
  if (record.steady_s == 0) refuse(record, "it has an energy and no steady samples");
  if (energy.samples_j.empty()) {
    if (energy.reason.empty()) refuse(record, "it has no energy and no reason");
    return;
  }
  if (!record.time || energy.samples_j.size() != record.time->samples_ns.size())
    refuse(record, "its energies are not as many as its times");
  for (const double sample : energy.samples_j)
    if (!(sample > 0) || std::isinf(sample)) refuse(record, fmt::format("an energy is {} J", sample));
  const double found = time_median({energy.samples_j, record.time->process_rounds});
  if (!(std::abs(found - energy.median_j) <= kRounding * found))
    refuse(record, fmt::format("its median is {} J, that of its samples {} J", energy.median_j, found));
}

// What is read from an environment by other means than its text.
void check_environment(const Record& record) {
  const nlohmann::json& environment = *record.environment;
  if (environment.is_null()) return;
  if (!environment.is_object()) refuse(record, "its environment is no object");
  if (const auto processes = environment.find("processes"); processes != environment.end()) {
    const bool listed = processes->is_array() && std::all_of(processes->begin(), processes->end(),
                                                             [](const auto& one) { return one.is_object(); });
    if (!listed) refuse(record, "'processes' of its environment is no list of objects");
  }
  const auto device = environment.find("device");
  if (device == environment.end() || !device->is_object() || !device->contains("multiprocessors")) return;
  const nlohmann::json& count = device->at("multiprocessors");
  if (!count.is_number_integer() || count < 1 || count > kMostMultiprocessors)
    refuse(record, fmt::format("'multiprocessors' of its device is {}", one_line(count.dump(), 40)));
}

// What has been computed and found right.
void check_verification(const Record& record) {
  // Only what has an output has minimum bytes.
  const bool has_output = record.kind == ImplementationKind::kernel || record.min_bytes;
  if (!record.verify) {
    if (has_output) refuse(record, "it is ok and was not verified");
    return;
  }
  if (!record.verify->other_function.empty() && record.kind != ImplementationKind::baseline)
    refuse(record, "it is a kernel and computes another function than its case asks for");
  const auto expect_right = [&](const RowCheck& check) {
    if (check.rows < 1) refuse(record, "it is ok and no row was verified");
    const bool right = worst_share(check) <= 1 || !record.verify->other_function.empty();
    if (!std::isfinite(check.max_abs) || !right)
      refuse(record, fmt::format("it is ok and its largest error, {}, is above the tolerance, {}",
                                 check.max_abs, check.tolerance));
  };
  expect_right(record.verify->before);
  if (record.verify->after) expect_right(*record.verify->after);
}

// What a program was asked for while it was timed.
void check_requests(const Record& record) {
  const Requests& requests = *record.requests;
  if (requests.executions < requests.count) refuse(record, "it had more requests than executions");
  if (requests.count > 0 && !(requests.wall_ns >= kShortest_ns && requests.reported_ns >= kShortest_ns))
    refuse(record, "its requests took no time");
  if (requests.wall_ns > kLongest_ns || requests.reported_ns > kLongest_ns)
    refuse(record, "its requests took longer than anything does");
}

}  // namespace

void expect_consistent(const Record& record) {
  if (record.twin != record.variant_id.ends_with(kTwinSuffix))
    refuse(record, fmt::format("its `twin` is {}, and its name says otherwise", record.twin));
  check_environment(record);
  if (record.time) check_time(record);
  if (record.energy) check_energy(record);
  if (record.requests) check_requests(record);
  if (record.status == Status::skipped && (record.time || record.verify))
    refuse(record, fmt::format("it is skipped and has {}", record.time ? "a time" : "a verification"));
  if (record.status != Status::ok) return;
  if (!record.time) refuse(record, "it is ok and has no time");
  check_verification(record);
}

}  // namespace hilbench
