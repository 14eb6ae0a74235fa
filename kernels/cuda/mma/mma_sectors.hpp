// What dilated_mma asks of the memory system, from its index and its tiles.
#pragma once

#include "kernels/case/case.hpp"
#include "kernels/case/variant.hpp"
#include "kernels/index/index.hpp"
#include "kernels/index/sectors.hpp"

namespace hilbench::cuda {

Sectors mma_sectors(const Case& work, const KernelChoice& choice, const Index& index);

}  // namespace hilbench::cuda
