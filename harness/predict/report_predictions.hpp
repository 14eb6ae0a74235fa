// What the model of rings says beside measured rings, for the report.
#pragma once

#include "reports/view/input.hpp"

namespace hilbench {

// Fits the model of fit.hpp on the records of 1 and 2 ranks and adds to `input` what it says of every
// ring that was measured and of rings twice as large as the largest; how well it fits goes into the notes,
// and why there is no model where none can be fitted. Nothing where no ring was measured.
void add_predictions(ReportInput& input);

}  // namespace hilbench
