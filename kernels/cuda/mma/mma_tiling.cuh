// How dilated_mma divides its work, how its operands are stored in shared memory and in the registers of a
// warp, and the two products.
#pragma once

#include <cstdint>

#include "kernels/cuda/mma/mma.cuh"

namespace hilbench::cuda {

template <class T, int kHeadDim_, int kRowTiles_, int kWarps_, int kKeys_, bool kQueryRegisters_>
struct Tiling {
  using Element = T;
  static constexpr int kHeadDim = kHeadDim_;
  static constexpr int kRowTiles = kRowTiles_;  // 16-row tiles of a warp
  static constexpr int kWarps = kWarps_;
  static constexpr int kKeys = kKeys_;                       // keys of a block
  static constexpr bool kQueryRegisters = kQueryRegisters_;  // Q stays in registers
  static constexpr int kRing = 3;                            // blocks of K or V in shared memory
  static constexpr int kSlotBlocks = 4;                      // blocks of key_slots entries in shared memory
  static constexpr int kBlocksPerSm = 2;
  static constexpr int kThreads = 32 * kWarps;
  static constexpr int kRows = 16 * kRowTiles * kWarps;
  static constexpr int kRowBytes = 2 * kHeadDim;
  static constexpr int kChunks = kRowBytes / 16;
  static constexpr int kQueryBytes = kRows * kRowBytes;
  static constexpr int kBlockBytes = kKeys * kRowBytes;
  static constexpr int kSlotBytes = kKeys * 4;
  static constexpr int kSharedBytes = kQueryBytes + kRing * kBlockBytes + kSlotBlocks * kSlotBytes;
  static_assert(kSharedBytes <= 99 * 1024, "the most that a block may have on every device from 8.0 up");
  static_assert(kHeadDim % 32 == 0 && kKeys % 16 == 0);
};

// Bytes after which the swizzle repeats along a row: eight or four 16-byte chunks.
template <class Tile>
constexpr int kSwizzlePeriod = Tile::kHeadDim % 64 == 0 ? 128 : 64;

// Chunk c of row r is stored at chunk c ^ swizzle(r): the same chunk of eight rows is in eight different
// groups of four banks.
template <class Tile>
__device__ __forceinline__ int swizzle(int row) {
  return kSwizzlePeriod<Tile> == 128 ? row & 7 : (row >> 1) & 3;
}

// Address of chunk pair `pair` (32 bytes) in the row whose pair 0 is at `row` as seen by a lane of ldmatrix.
template <class Tile>
__device__ __forceinline__ std::uint32_t pair_address(std::uint32_t row, int pair) {
  constexpr int period = kSwizzlePeriod<Tile>;
  return (row ^ (pair * 32 % period)) + pair * 32 / period * period;
}

template <class Tile>
using Scores = float[Tile::kRowTiles][Tile::kKeys / 8][4];
template <class Tile>
using Output = float[Tile::kRowTiles][Tile::kHeadDim / 8][4];
// P as left operand of P V: [16 rows][16 keys].
template <class Tile>
using Probabilities = std::uint32_t[Tile::kRowTiles][Tile::kKeys / 16][4];
template <class Tile>
using Queries = std::uint32_t[Tile::kQueryRegisters ? Tile::kRowTiles : 1]
                             [Tile::kQueryRegisters ? Tile::kHeadDim / 16 : 1][4];

// Q of a warp, all columns.
template <class Tile>
__device__ __forceinline__ void load_queries(Queries<Tile>& q, std::uint32_t query_row) {
#pragma unroll
  for (int m = 0; m < Tile::kRowTiles; ++m)
#pragma unroll
    for (int step = 0; step < Tile::kHeadDim / 16; ++step)
      load_matrices(q[m][step], pair_address<Tile>(query_row, step) + m * 16 * Tile::kRowBytes);
}

// S += Q K^T for columns 16 * step .. 16 * step + 15 of Q and K; S = Q K^T for step 0.
template <class Tile>
__device__ __forceinline__ void add_scores(Scores<Tile>& s, const Queries<Tile>& q, std::uint32_t query_row,
                                           std::uint32_t block, int step, int lane) {
  // Matrices 0 and 1: keys 0-7, columns 0-7 and 8-15; matrices 2 and 3: keys 8-15.
  const int key = (lane & 7) + ((lane >> 4) << 3);
  const std::uint32_t key_row =
      block + key * Tile::kRowBytes + ((((lane >> 3) & 1) ^ swizzle<Tile>(key)) << 4);
  std::uint32_t a[Tile::kRowTiles][4];
#pragma unroll
  for (int m = 0; m < Tile::kRowTiles; ++m) {
    if constexpr (Tile::kQueryRegisters) {
#pragma unroll
      for (int i = 0; i < 4; ++i) a[m][i] = q[m][step][i];
    } else {
      load_matrices(a[m], pair_address<Tile>(query_row, step) + m * 16 * Tile::kRowBytes);
    }
  }
#pragma unroll
  for (int n = 0; n < Tile::kKeys / 16; ++n) {
    std::uint32_t b[4];
    load_matrices(b, pair_address<Tile>(key_row, step) + n * 16 * Tile::kRowBytes);
#pragma unroll
    for (int m = 0; m < Tile::kRowTiles; ++m) {
      if (step == 0) {
#pragma unroll
        for (int i = 0; i < 4; ++i) s[m][2 * n][i] = s[m][2 * n + 1][i] = 0;
      }
      multiply_add<typename Tile::Element>(s[m][2 * n], a[m], b[0], b[1]);
      multiply_add<typename Tile::Element>(s[m][2 * n + 1], a[m], b[2], b[3]);
    }
  }
}

// O += P V for keys 16 * step .. 16 * step + 15 of a block.
template <class Tile>
__device__ __forceinline__ void add_values(Output<Tile>& o, const Probabilities<Tile>& p, std::uint32_t block,
                                           int step, int lane) {
  // Matrices 0 and 1: keys 0-7 and 8-15 of columns 0-7; matrices 2 and 3: of columns 8-15.
  const int key = lane & 15;
  const std::uint32_t row = block + key * Tile::kRowBytes + (((lane >> 4) ^ swizzle<Tile>(key)) << 4);
#pragma unroll
  for (int n = 0; n < Tile::kHeadDim / 16; ++n) {
    std::uint32_t b[4];
    load_matrices_transposed(b, pair_address<Tile>(row, n) + step * 16 * Tile::kRowBytes);
#pragma unroll
    for (int m = 0; m < Tile::kRowTiles; ++m) {
      multiply_add<typename Tile::Element>(o[m][2 * n], p[m][step], b[0], b[1]);
      multiply_add<typename Tile::Element>(o[m][2 * n + 1], p[m][step], b[2], b[3]);
    }
  }
}

}  // namespace hilbench::cuda
