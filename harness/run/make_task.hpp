// From a planned comparison to the task of whoever measures it.
#pragma once

#include <filesystem>

#include "harness/measure/comparison_task.hpp"
#include "harness/plan/plan.hpp"

namespace hilbench {

// What a worker is asked to do for the variants of `comparison` that are not skipped. `dump`: see Task.
ComparisonTask make_task(const Sweep& sweep, const Comparison& comparison, const Site& site,
                         const std::filesystem::path& dump);

// The record of a variant before it is measured: what the plan knows. `skipped` with the reason if so.
Record planned_record(const Sweep& sweep, const Comparison& comparison, const PlannedVariant& planned);

}  // namespace hilbench
