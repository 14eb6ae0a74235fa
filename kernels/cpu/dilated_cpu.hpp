// `dilated_cpu`: fused dilated attention forward on the CPU, fp32 arithmetic, fp32 or bf16 storage.
#pragma once

#include "kernels/implementation.hpp"

namespace hilbench {

extern const Implementation kDilatedCpu;

}  // namespace hilbench
