// Predictions of rings, for the report to show beside the measured ones.
#pragma once

#include "reports/view/input.hpp"

namespace hilbench {

// Fits the model of fit.hpp on the records of 1 and 2 ranks. Adds to `input` its predictions for every ring
// that was measured and for rings twice as large as the largest, and notes how well it fits, or why no model
// can be fitted. Adds nothing if no ring was measured.
void add_predictions(ReportInput& input);

}  // namespace hilbench
