// `cublas`: unfused attention on the GPU, two matrix products of cuBLAS around a softmax.
#pragma once

#include "kernels/implementation.hpp"

namespace hilbench {

extern const Implementation kCublas;

}  // namespace hilbench
