// What verification does with gradients: harness/measure/verify.hpp says how an output is judged.
#pragma once

#include "harness/measure/verify.hpp"

namespace hilbench {

void add_errors(GradientErrors& to, const GradientErrors& from);
// Compares the rows that were taken with those of the oracle, which must have them.
void compare_gradients(const GradientOracle& oracle, const TakenRows& taken,
                       OfGradients<GradientErrors>& errors);
// Adds a check of each gradient to `result`, makes its check that of the worst tensor, and sets its fault,
// unless it has one already.
void judge_gradients(const Case& work, const OfGradients<GradientErrors>& errors, VerifyResult& result);

}  // namespace hilbench
