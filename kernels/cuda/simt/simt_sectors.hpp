// What dilated_simt asks of the memory system, from its index and its tiles.
#pragma once

#include "kernels/index/sectors.hpp"

namespace hilbench::cuda {

// In kernels/cuda/simt_sectors.cpp, which counts all that the kernel reads.
extern const SectorStream kSimtStream;

}  // namespace hilbench::cuda
