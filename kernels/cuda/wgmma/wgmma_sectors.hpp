// What dilated_wgmma asks of the memory system, from its index and its tiles.
#pragma once

#include "kernels/case/case.hpp"
#include "kernels/case/variant.hpp"
#include "kernels/index/index.hpp"
#include "kernels/index/sectors.hpp"

namespace hilbench::cuda {

Sectors wgmma_sectors(const Case& work, const KernelChoice& choice, const Index& index,
                      std::int64_t multiprocessors);

}  // namespace hilbench::cuda
