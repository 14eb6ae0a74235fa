// Kernels and baselines for GPUs in this build: which file answers is CMake's choice.
#pragma once

#include <span>

#include "kernels/variant.hpp"

namespace hilbench {

// The best kernel first. Empty in a build without CUDA.
std::span<const Variant* const> cuda_variants();

}  // namespace hilbench
