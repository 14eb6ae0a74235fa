#include "reports/records/finish_statistics.hpp"

#include "reports/records/stats.hpp"

namespace hilbench {

void finish_statistics(std::vector<Record>& records) {
  for (Record& record : records) {
    if (!record.time) continue;
    record.time->median_ns = median(record.time->samples_ns);
    record.time->ci_ns = median_interval({record.time->samples_ns, record.time->process_rounds}, 1);
    if (record.flops) record.tflops = *record.flops / record.time->median_ns * 1e-3;
  }
}

}  // namespace hilbench
