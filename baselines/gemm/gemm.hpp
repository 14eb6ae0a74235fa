// `gemm`: attention as two matrix products of a BLAS around a softmax, on gathered rows.
#pragma once

#include "kernels/implementation.hpp"

namespace hilbench {

extern const Implementation kGemm;

}  // namespace hilbench
