// Turns a planned comparison into a task that can be measured.
#pragma once

#include <filesystem>

#include "harness/measure/comparison_task.hpp"
#include "harness/plan/plan.hpp"

namespace hilbench {

// The task for the variants of `comparison` that are not skipped. `dump`: see ComparisonTask.
ComparisonTask make_task(const Sweep& sweep, const Comparison& comparison, const Site& site,
                         const std::filesystem::path& dump);

// The record of a variant before it is measured, as far as the plan knows it; `skipped` with the reason if
// the plan skips it.
Record planned_record(const Sweep& sweep, const Comparison& comparison, const PlannedVariant& planned);

}  // namespace hilbench
