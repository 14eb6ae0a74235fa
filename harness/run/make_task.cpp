#include "harness/run/make_task.hpp"

#include "kernels/ring/shard_keys.hpp"

namespace hilbench {

namespace {

std::vector<std::string> chosen_traversals(const Comparison& comparison, const PlannedVariant& planned) {
  const Case& work = comparison.work;
  const CausalTraversal causal = planned.implementation->causal_traversal;
  std::vector<std::string> chosen;
  if (!planned.ring_algorithm.empty()) {
    const Ring ring(work, planned.variant);
    for (const Branch& branch : work.pattern)
      chosen.push_back(to_string(ring_traversal(ring, branch, causal)));
  } else if (work.ring_size == 1) {
    const std::int64_t at_once = comparison.gpu.empty() ? comparison.threads : comparison.multiprocessors;
    for (const Branch& branch : work.pattern)
      chosen.push_back(
          to_string(traversal_of(work, branch, planned.variant, {.causal = causal, .at_once = at_once})));
  }
  return chosen;
}

}  // namespace

Record planned_record(const Sweep& sweep, const Comparison& comparison, const PlannedVariant& planned) {
  Record record;
  record.sweep = sweep.name;
  record.work = comparison.work;
  record.variant = planned.variant;
  record.case_id = comparison.case_id;
  record.variant_id = planned.id;
  record.twin = planned.twin;
  record.margin = sweep.measure.margin;
  const bool resolved = planned.implementation != nullptr && !planned.implementation->external;
  record.kernel = resolved ? std::string(planned.implementation->name) : planned.variant.kernel;
  record.kind = planned.variant.baseline ? ImplementationKind::baseline : ImplementationKind::kernel;
  record.threads = comparison.threads;
  if (comparison.reference) record.reference = comparison.variants[*comparison.reference].id;
  record.cache = sweep.measure.cache == CacheState::cold ? "cold" : "warm";
  record.steady_s = sweep.measure.steady ? sweep.measure.steady_s : 0;
  record.flops = planned.flops;
  record.min_bytes = planned.min_bytes;
  record.memory_bytes = planned.memory_bytes;
  record.comm_bytes = planned.comm_bytes;
  record.comm_bytes_inside = planned.comm_bytes_inside;
  record.comm_bytes_between = planned.comm_bytes_between;
  record.pairs = planned.pairs;
  record.ring_algorithm = planned.ring_algorithm;
  record.ring_groups = planned.ring_groups;
  record.transport = planned.transport;
  record.sharding = planned.sharding;
  record.head_moves = planned.head_moves;
  if (!planned.ring_algorithm.empty())
    record.order_chunk = shard_order(Ring(comparison.work, planned.variant), 0).chunk;
  else if (!planned.variant.baseline && why_not_order(comparison.work, planned.variant).empty())
    record.order_chunk = order_request(comparison.work, planned.variant).chunk;
  if (resolved && record.kind == ImplementationKind::kernel && chosen_by_program(planned.variant))
    record.traversals = chosen_traversals(comparison, planned);
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
  for (std::size_t i = 0; i < comparison.variants.size(); ++i) {
    if (comparison.variants[i].skip) continue;
    if (comparison.reference == i) task.reference = task.records.size();
    task.records.push_back(planned_record(sweep, comparison, comparison.variants[i]));
  }
  return task;
}

}  // namespace hilbench
