// The tilings of dilated_mma, and how one is found for a shape.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <stdexcept>

#include "kernels/cuda/mma/mma_tile_rows.hpp"
#include "kernels/cuda/mma/mma_tiling.cuh"
#include "kernels/cuda/shared/forward_shape.hpp"

namespace hilbench::cuda {

template <class T, int kHeadDim>
struct Tilings;
template <class T>
struct Tilings<T, 32> : Tiling<T, 32, 2, 4, 64, true> {};
template <class T>
struct Tilings<T, 64> : Tiling<T, 64, 2, 4, 64, true> {};
template <class T>
struct Tilings<T, 96> : Tiling<T, 96, 2, 4, 64, false> {};
template <class T>
struct Tilings<T, 128> : Tiling<T, 128, 2, 4, 64, false> {};
template <class T>
struct Tilings<T, 256> : Tiling<T, 256, 1, 4, 32, false> {};

template <class T, int... kHeadDims>
constexpr bool kRowsAreAsPlanned = ((Tilings<T, kHeadDims>::kRows == mma_tile_rows(kHeadDims)) && ...);
static_assert(kRowsAreAsPlanned<__half, 32, 64, 96, 128, 256>);

// Calls visit(Tilings<T, D>()) for the shape's element and head dimension.
template <class T, class Visit>
auto visit_head_dim(const ForwardShape& shape, Visit visit) {
  switch (shape.head_dim) {
    case 32:
      return visit(Tilings<T, 32>());
    case 64:
      return visit(Tilings<T, 64>());
    case 96:
      return visit(Tilings<T, 96>());
    case 128:
      return visit(Tilings<T, 128>());
    case 256:
      return visit(Tilings<T, 256>());
    default:
      throw std::invalid_argument("dilated_mma: head_dim must be 32, 64, 96, 128 or 256");
  }
}

}  // namespace hilbench::cuda
