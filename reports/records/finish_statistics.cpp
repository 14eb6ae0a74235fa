#include "reports/records/finish_statistics.hpp"

#include "reports/records/stats.hpp"

namespace hilbench {

void finish_statistics(std::vector<Record>& records) {
  for (Record& record : records) {
    if (!record.time || record.time->samples_ns.empty()) continue;
    const Rounds rounds{record.time->samples_ns, record.time->process_rounds};
    record.time->median_ns = time_median(rounds);
    record.time->ci_ns = median_interval(rounds);
    if (record.energy && record.energy->reason.empty())
      record.energy->median_j = time_median({record.energy->samples_j, record.time->process_rounds});
    if (record.flops) record.tflops = *record.flops / record.time->median_ns * 1e-3;
  }
}

}  // namespace hilbench
