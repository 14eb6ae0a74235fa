// Least squares on relative errors: the model that gives measured times of rings best.
#pragma once

#include <vector>

#include "harness/predict/model.hpp"
#include "harness/predict/samples.hpp"

namespace hilbench {

// Of `samples`, at least one, all of one group and in one order. A tile's walk counts where it explains the
// times clearly better.
RingModel fitted_model(const std::vector<const RingSample*>& samples);

}  // namespace hilbench
