// Queries of a tile of dilated_wgmma, and keys of its blocks. For device code and for the host.
#pragma once

#include <array>
#include <initializer_list>

namespace hilbench::cuda {

// Those of a case: 32 to 256 in steps of 8.
constexpr std::array<int, 29> wgmma_head_dims() {
  std::array<int, 29> dims{};
  for (int i = 0; i < 29; ++i) dims[i] = 32 + 8 * i;
  return dims;
}

// The head_dim of the code that computes this one, 32 to 256: the columns that a case lacks are zeros in
// shared memory, and nowhere else.
constexpr int wgmma_compiled_dim(int head_dim) {
  for (const int compiled : {64, 80, 96, 128, 192})
    if (head_dim <= compiled) return compiled;
  return 256;
}

constexpr int wgmma_tile_rows(int head_dim) {
  return head_dim <= 64 ? 192 : 128;
}

// As many as fit if two blocks of K, two of V and one of Q share 227 KiB; up to 128, of which masks of
// windows are made. There a block is a mask or half of it.
constexpr int wgmma_block_keys(int head_dim, bool windows) {
  if (head_dim <= 128) return 128;
  if (windows) return 64;
  return head_dim <= 192 ? 112 : 80;
}

}  // namespace hilbench::cuda
