// The tiles of keys of a branch as the CUDA backward kernels read them.
#pragma once

#include <vector>

#include "kernels/case/case.hpp"
#include "kernels/cuda/shared/gradient.hpp"
#include "kernels/index/index.hpp"

namespace hilbench::cuda {

struct KeyTileLists {
  std::vector<KeyTile> tiles;  // those that most queries see first; of one list by `turn`
  std::vector<QueryRun> runs;
};

// Tiles of at most `rows` keys, for each list, batch entry and K/V head that a tile of the branch reads.
KeyTileLists key_tile_lists(const Case& work, const BranchIndex& branch, std::int32_t rows);

}  // namespace hilbench::cuda
