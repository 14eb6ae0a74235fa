#include "harness/run/make_task.hpp"

namespace hilbench {

Record planned_record(const Sweep& sweep, const Comparison& comparison, const PlannedVariant& planned) {
  Record record{planned};
  record.sweep = sweep.name;
  record.margin = sweep.measure.margin;
  if (comparison.reference) record.reference = comparison.variants[*comparison.reference].variant_id;
  record.cache = sweep.measure.cache == CacheState::cold ? "cold" : "warm";
  record.steady_s = sweep.measure.steady ? sweep.measure.steady_s : 0;
  if (planned.skip) {
    record.status = Status::skipped;
    record.reason = *planned.skip;
  }
  return record;
}

ComparisonTask make_task(const Sweep& sweep, const Comparison& comparison, const Site& site,
                         const std::filesystem::path& dump) {
  ComparisonTask task{.measure = sweep.measure,
                      .inputs = sweep.inputs,
                      .counters = sweep.counters,
                      .device_ordinal = site.gpu ? site.gpu->ordinal : 0,
                      .dump = dump,
                      .externals = sweep.externals};
  if (!sweep.chain.steps.empty()) task.chain_end = sweep.chain.steps[sweep.chain.end].variant;
  for (std::size_t i = 0; i < comparison.variants.size(); ++i) {
    if (comparison.variants[i].skip) continue;
    if (comparison.reference == i) task.reference = task.records.size();
    task.records.push_back(planned_record(sweep, comparison, comparison.variants[i]));
  }
  return task;
}

}  // namespace hilbench
