// The products of a consumer: 64 query rows with a block of keys, and their probabilities with its values.
#pragma once

#include <cstdint>

#include "kernels/cuda/mma/mma.cuh"
#include "kernels/cuda/wgmma/hopper.cuh"
#include "kernels/cuda/wgmma/wgmma_tiling.cuh"

namespace hilbench::cuda {

// S = Q K^T of 64 query rows.
template <class S>
__device__ __forceinline__ void multiply_keys(float (&s)[S::kKeys / 2], std::uint32_t q, std::uint32_t k) {
  const std::uint64_t a = wgmma_descriptor(q, 16);
  const std::uint64_t b = wgmma_descriptor(k, 16);
#pragma unroll
  for (int i = 0; i < S::kDim / 16; ++i) {
    wgmma_shared(typename S::T{}, s, a + (i / 4 * (S::kRows * 128) + i % 4 * 32) / 16,
                 b + (i / 4 * (S::kKeys * 128) + i % 4 * 32) / 16, i > 0);
  }
}

// O += P V.
template <class S>
__device__ __forceinline__ void multiply_values(float (&o)[S::kDim / 2],
                                                const std::uint32_t (&p)[S::kKeys / 4], std::uint32_t v) {
  const std::uint64_t b = wgmma_descriptor(v, S::kKeys * 128);
#pragma unroll
  for (int i = 0; i < S::kKeys / 16; ++i)
    wgmma_registers(typename S::T{}, o, &p[4 * i], b + i * (16 * 128 / 16));
}

// Computes S = Q K^T of this warp's 16 query rows once more, with products of one warp: the scores of the
// warp group have been overwritten by exponentials.
template <class S>
__device__ __forceinline__ void repeat_scores(float (&s)[S::kKeys / 2], std::uint32_t q, std::uint32_t k) {
  const int lane = threadIdx.x % 32;
  const std::uint32_t row = threadIdx.x / 32 % 4 * 16 + lane % 16;
  const std::uint32_t key = lane / 16 * 8 + lane % 8;
#pragma unroll
  for (int i = 0; i < S::kKeys / 2; ++i) s[i] = 0;
#pragma unroll 1  // runs seldom: small code rather than fast code
  for (int i = 0; i < S::kDim / 16; ++i) {
    std::uint32_t a[4];
    load_matrices(a, q + i / 4 * (S::kRows * 128) + swizzled(row, i % 4 * 2 + lane / 16));
    const std::uint32_t keys = k + i / 4 * (S::kKeys * 128) + swizzled(key, i % 4 * 2 + lane / 8 % 2);
#pragma unroll
    for (int g = 0; g < S::kKeys / 8; g += 2) {
      std::uint32_t b[4];
      load_matrices(b, keys + g * (8 * 128));
      multiply_add<typename S::T>(reinterpret_cast<float(&)[4]>(s[4 * g]), a, b[0], b[1]);
      multiply_add<typename S::T>(reinterpret_cast<float(&)[4]>(s[4 * g + 4]), a, b[2], b[3]);
    }
  }
  __syncwarp();  // all lanes have read the block before one of them releases it
}

}  // namespace hilbench::cuda
