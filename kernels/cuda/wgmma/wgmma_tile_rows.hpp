// Queries of a tile of dilated_wgmma. For device code and for the host.
#pragma once

namespace hilbench::cuda {

constexpr int wgmma_tile_rows(int head_dim) {
  return head_dim == 64 ? 192 : 128;
}

}  // namespace hilbench::cuda
