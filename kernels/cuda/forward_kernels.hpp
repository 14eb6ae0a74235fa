// The CUDA forward kernels as variants: in every build, so that a sweep may name them anywhere. A build that
// lacks the code of one says so. No CUDA header, as in every header of the harness.
#pragma once

#include "kernels/implementation.hpp"

namespace hilbench {

extern const Implementation kDilatedWgmma;
extern const Implementation kDilatedMma;
extern const Implementation kDilatedSimt;

}  // namespace hilbench
