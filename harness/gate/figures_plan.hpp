// The figures that a plan knows.
#pragma once

#include "harness/gate/figures.hpp"
#include "harness/plan/plan.hpp"

namespace hilbench {

// A row for each kernel variant of the plan; twins and baselines have none. `instructions` has no value yet.
FigureTable figures_of_plan(const Sweep& sweep, const Plan& plan);

}  // namespace hilbench
