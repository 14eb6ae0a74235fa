// All values of a tensor of inputs.
#pragma once

#include <vector>

#include "harness/measure/inputs.hpp"

namespace hilbench {

inline std::vector<float> whole(const InputTensors& inputs, Tensor which) {
  std::vector<float> values(static_cast<std::size_t>(inputs.size(which)));
  inputs.read(which, 0, values);
  return values;
}

}  // namespace hilbench
