// The sums of the key probe for a mask of blocks, from sums over whole blocks of keys.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/measure/key_probe.hpp"

namespace hilbench {

// Adds the sums and sizes of all rows of `probe`. `position_of`: of each slot of a `tokens` order; empty:
// the same.
void add_mask_sums(const Case& work, const InputTensors& inputs, const std::vector<std::int32_t>& position_of,
                   int threads, KeyProbe& probe);

}  // namespace hilbench
