// The CUDA kernels as variants.
#pragma once

#include "kernels/variant.hpp"

namespace hilbench {

extern const Variant kDilatedWgmma;
extern const Variant kDilatedMma;
extern const Variant kDilatedSimt;

}  // namespace hilbench
