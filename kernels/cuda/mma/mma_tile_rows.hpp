// Queries of a tile of dilated_mma: 16-row tiles of its warps. For device code and for the host.
#pragma once

namespace hilbench::cuda {

constexpr int mma_tile_rows(int head_dim) {
  return head_dim == 256 ? 64 : 128;
}

}  // namespace hilbench::cuda
