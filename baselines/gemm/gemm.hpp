// `gemm`: attention as two matrix products of a BLAS with a softmax between them, on gathered rows.
#pragma once

#include "kernels/implementation.hpp"

namespace hilbench {

extern const Implementation kGemm;

}  // namespace hilbench
