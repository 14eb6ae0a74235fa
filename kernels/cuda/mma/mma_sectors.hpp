// What dilated_mma asks of the memory system, from its index and its tiles.
#pragma once

#include "kernels/index/sectors.hpp"

namespace hilbench::cuda {

extern const SectorStream kMmaStream;

}  // namespace hilbench::cuda
