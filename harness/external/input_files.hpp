// Q, K and V as external programs read them.
#pragma once

#include <cstdint>

#include "harness/measure/inputs.hpp"
#include "kernels/base/process/shared_file.hpp"

namespace hilbench {

// Files of raw elements in the case's dtype, in position order, BSHD. The programs of a comparison share
// them, so no program can change them.
struct InputFiles {
  // Writes the tensors of `inputs`, made for `work`, with `threads` threads. Throws EnvironmentError.
  InputFiles(const InputTensors& inputs, const Case& work, int threads);

  SharedFile q{"q"}, k{"k"}, v{"v"};
  SharedFile mask{
      "mask"};  // a byte of 0 or 1 for each block of queries and block of keys; empty without a mask
};

}  // namespace hilbench
