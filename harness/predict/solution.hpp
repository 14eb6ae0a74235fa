// Least squares of relative errors: finds the model that gives measured times of rings best.
#pragma once

#include <vector>

#include "harness/predict/model.hpp"
#include "harness/predict/samples.hpp"

namespace hilbench {

// The model for `samples`: at least one, all of one group and one order.
RingModel fitted_model(const std::vector<const RingSample*>& samples);

}  // namespace hilbench
