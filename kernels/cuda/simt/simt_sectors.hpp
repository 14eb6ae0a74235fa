// What dilated_simt asks of the memory system, from its index and its tiles.
#pragma once

#include "kernels/case/case.hpp"
#include "kernels/case/variant.hpp"
#include "kernels/index/index.hpp"
#include "kernels/index/sectors.hpp"

namespace hilbench::cuda {

// Rows of a tile on GPUs of this compute capability (10 * major + minor); 0: none fits.
std::int64_t simt_tile_rows(const Case& work, int compute_capability);
Sectors simt_sectors(const Case& work, const KernelChoice& choice, const Index& index,
                     int compute_capability);

}  // namespace hilbench::cuda
