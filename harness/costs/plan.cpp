#include "harness/costs/plan.hpp"

namespace hilbench {
namespace {

CostValue planned_cost(const std::optional<double>& value) {
  return {value, value ? "" : "the plan does not know it"};
}

CostRow row_of(const Comparison& comparison, const PlannedVariant& planned) {
  CostRow row{.group = comparison.case_id,
              .name = planned.variant_id,
              .skip = planned.skip.value_or(""),
              .needs_a_gpu = comparison.work.device == DeviceKind::cuda};
  const auto add = [&](std::string_view name, CostValue cost) {
    if (planned.skip && !row.needs_a_gpu) cost = {.reason = *planned.skip};  // it costs nothing
    row.costs.emplace(std::string(name), std::move(cost));
  };
  add(cost::kFlops, planned_cost(planned.flops));
  add(cost::kMinBytes, planned_cost(planned.min_bytes));
  add(cost::kMemoryBytes, planned_cost(planned.memory_bytes));
  if (comparison.work.ring_size > 1) add(cost::kCommBytes, planned_cost(planned.comm_bytes));
  add(cost::kInstructions, {.reason = "not counted"});
  return row;
}

}  // namespace

CostTable costs_of_plan(const Sweep& sweep, const Plan& plan) {
  CostTable table{.sweep = sweep.name};
  for (const Comparison& comparison : plan.comparisons)
    for (const PlannedVariant& planned : comparison.variants)
      if (!planned.twin && !planned.variant.is_baseline())
        table.variants.push_back(row_of(comparison, planned));
  return table;
}

}  // namespace hilbench
