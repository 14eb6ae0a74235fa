#include "harness/gate/figures_plan.hpp"

namespace hilbench {
namespace {

FigureValue planned_figure(const std::optional<double>& value) {
  return {value, value ? "" : "the plan does not know it"};
}

FigureRow row_of(const Comparison& comparison, const PlannedVariant& planned) {
  FigureRow row{.group = comparison.case_id,
                .name = planned.variant_id,
                .skip = planned.skip.value_or(""),
                .needs_a_gpu = comparison.work.device == DeviceKind::cuda};
  const auto add = [&](std::string_view name, FigureValue figure) {
    if (planned.skip && !row.needs_a_gpu) figure = {.reason = *planned.skip};  // it costs nothing
    row.figures.emplace(std::string(name), std::move(figure));
  };
  add(figure::kFlops, planned_figure(planned.flops));
  add(figure::kMinBytes, planned_figure(planned.min_bytes));
  add(figure::kMemoryBytes, planned_figure(planned.memory_bytes));
  if (comparison.work.ring_size > 1) add(figure::kCommBytes, planned_figure(planned.comm_bytes));
  add(figure::kInstructions, {.reason = "not counted"});
  return row;
}

}  // namespace

FigureTable figures_of_plan(const Sweep& sweep, const Plan& plan) {
  FigureTable table{.sweep = sweep.name};
  for (const Comparison& comparison : plan.comparisons)
    for (const PlannedVariant& planned : comparison.variants)
      if (!planned.twin && !planned.variant.baseline) table.variants.push_back(row_of(comparison, planned));
  return table;
}

}  // namespace hilbench
