#include "reports/gate/run_slowdown.hpp"

#include <cmath>
#include <span>

#include "reports/records/effect.hpp"

namespace hilbench {
namespace {

using Processes = std::vector<std::span<const double>>;

Rounds rounds_of(const Record& record) {
  return {record.time->samples_ns, record.time->process_rounds};
}

double mean_log(double a, double b) {
  return (std::log(a) + std::log(b)) / 2;
}

// Of one process: the median over its rounds, which meet the same machine; of medians if rounds do not pair.
double mean_log(std::span<const double> a, std::span<const double> b) {
  if (a.size() != b.size()) return mean_log(median(a), median(b));
  std::vector<double> rounds(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) rounds[i] = mean_log(a[i], b[i]);
  return median(rounds);
}

// The same of ln(time) less mean_log().
double log_ratio(std::span<const double> times, std::span<const double> reference,
                 std::span<const double> twin) {
  if (times.size() != reference.size() || times.size() != twin.size())
    return std::log(median(times)) - mean_log(reference, twin);
  std::vector<double> rounds(times.size());
  for (std::size_t i = 0; i < times.size(); ++i)
    rounds[i] = std::log(times[i]) - mean_log(reference[i], twin[i]);
  return median(rounds);
}

}  // namespace

bool timed(const Record& record) {
  return record.status == Status::ok && record.time && !record.time->samples_ns.empty() &&
         foreign_processes(record) == 0;
}

std::vector<double> log_times(const Record& record, const Record* twin) {
  const Rounds of_record = rounds_of(record), of_twin = twin != nullptr ? rounds_of(*twin) : of_record;
  const Processes times = by_process(of_record), again = by_process(of_twin);
  if (again.size() != times.size()) return log_medians(of_record);
  std::vector<double> logs;
  for (std::size_t i = 0; i < times.size(); ++i) logs.push_back(mean_log(times[i], again[i]));
  return logs;
}

std::vector<double> log_ratios(const Record& record, const Record& reference, const Record* twin) {
  const Rounds of_record = rounds_of(record), of_reference = rounds_of(reference),
               of_twin = twin != nullptr ? rounds_of(*twin) : of_reference;
  const Processes times = by_process(of_record), below = by_process(of_reference),
                  again = by_process(of_twin);
  if (below.size() != times.size() || again.size() != times.size()) return {};
  std::vector<double> logs;
  for (std::size_t i = 0; i < times.size(); ++i) logs.push_back(log_ratio(times[i], below[i], again[i]));
  return logs;
}

Mean slowdown_of(const std::vector<double>& after, const std::vector<std::vector<double>>& runs) {
  std::vector<double> means, processes;
  for (const std::vector<double>& run : runs) {
    means.push_back(mean_of(run).value);
    processes.insert(processes.end(), run.begin(), run.end());
  }
  // Three runs or more tell how runs differ, and the candidate is one more run.
  if (runs.size() >= 3) return difference_to_one(mean_of(after).value, mean_of(means));
  return welch(mean_of(after), mean_of(processes));
}

}  // namespace hilbench
