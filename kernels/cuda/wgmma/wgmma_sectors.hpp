// What dilated_wgmma asks of the memory system, from its index and its tiles.
#pragma once

#include "kernels/index/sectors.hpp"

namespace hilbench::cuda {

// boxes_wgmma reads the same.
// In kernels/cuda/wgmma_sectors.cpp, which counts all that the kernel reads.
extern const SectorStream kWgmmaStream;

}  // namespace hilbench::cuda
