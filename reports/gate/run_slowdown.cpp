#include "reports/gate/run_slowdown.hpp"

#include "reports/records/effect.hpp"

namespace hilbench {

bool timed(const Record& record) {
  return record.status == Status::ok && record.time && !record.time->samples_ns.empty() &&
         foreign_processes(record) == 0;
}

std::vector<double> log_times(const Record& record) {
  return log_medians({record.time->samples_ns, record.time->process_rounds});
}

std::vector<double> log_ratios(const Record& record, const Record& reference, const Record* twin) {
  std::vector<double> logs = log_times(record);
  if (!timed(reference)) return {};
  const std::vector<double> below = log_times(reference);
  if (below.size() != logs.size()) return {};
  std::vector<double> again = twin != nullptr && timed(*twin) ? log_times(*twin) : below;
  if (again.size() != below.size()) again = below;
  for (std::size_t i = 0; i < logs.size(); ++i) logs[i] -= (below[i] + again[i]) / 2;
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
