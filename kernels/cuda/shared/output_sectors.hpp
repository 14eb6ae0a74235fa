// The sectors of what all CUDA forward kernels share: O and LSE, and the launches that clear and round them.
#pragma once

#include <cstdint>

#include "kernels/case/case.hpp"
#include "kernels/index/index.hpp"
#include "kernels/index/sectors.hpp"

namespace hilbench::cuda {

// The rows that the tiles of a case write, as all CUDA kernels have them.
struct WrittenRows {
  std::int64_t head_dim = 0;
  bool fp32 = false;    // O in memory is fp32
  bool merges = false;  // branches merge in fp32 and are rounded at the end
  bool clears = false;  // rows that no tile of a first branch covers are cleared
};
WrittenRows written_rows(const Case& work);

// Of clear_uncovered() and round_output() (kernels/cuda/shared/clear.cu). Rows are whole sectors.
Sectors cleared_rows(const Case& work, const WrittenRows& written);
Sectors rounded_rows(const Case& work);

// The stores of warps that clear 32 rows (position, head) at a time, 16 bytes a lane.
Asked cleared_windows(const Case& work, const WrittenRows& written);

// Rows of LSE that a request of `rows` lanes touches, from query `first` of a tile on.
std::int64_t lse_sectors(const Case& work, const IndexTile& tile, std::int64_t first, std::int64_t rows);
// The same of windows, whose queries may be of any rows.
std::int64_t lse_sectors(const Case& work, const BranchIndex& windows, const IndexTile& tile,
                         std::int64_t first, std::int64_t rows);

}  // namespace hilbench::cuda
