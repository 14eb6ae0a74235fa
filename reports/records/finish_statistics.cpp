#include "reports/records/finish_statistics.hpp"

#include "reports/records/stats.hpp"

namespace hilbench {

void finish_statistics(std::vector<Record>& records, std::optional<std::size_t> reference,
                       std::uint64_t seed) {
  const auto rounds = [](const Record& record) {
    return Rounds{record.time->samples_ns, record.time->process_rounds};
  };
  const Record* against = reference ? &records[*reference] : nullptr;
  for (Record& record : records) {
    if (!record.time) continue;
    record.time->median_ns = median(record.time->samples_ns);
    record.time->ci_ns = median_interval(rounds(record), seed);
    if (record.flops) record.tflops = *record.flops / record.time->median_ns * 1e-3;
    const bool comparable = against != nullptr && against->status == Status::ok &&
                            record.status == Status::ok && &record != against && record.verify &&
                            record.time->process_rounds == against->time->process_rounds &&
                            foreign_processes(record) + foreign_processes(*against) == 0;
    if (!comparable) continue;
    const Ratio ratio = paired_ratio(rounds(*against), rounds(record), seed);
    const bool other_function = record.variant.order_scope == OrderScope::tokens;
    record.speedup = {.against = against->variant_id,
                      .ratio = ratio.value,
                      .ci = ratio.ci,
                      .verdict = other_function ? Verdict::different_function : verdict_of(ratio.ci)};
  }
}

}  // namespace hilbench
