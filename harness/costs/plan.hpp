// The costs that a plan knows.
#pragma once

#include "harness/costs/costs.hpp"
#include "harness/plan/plan.hpp"

namespace hilbench {

// A row for each kernel variant of the plan; twins and baselines have none. `instructions` has no value yet.
CostTable costs_of_plan(const Sweep& sweep, const Plan& plan);

}  // namespace hilbench
