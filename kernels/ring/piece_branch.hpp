// The index of one launch of a piece: one branch, queries of one rank, keys of one shard.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/index/walk.hpp"
#include "kernels/ring/ring_index.hpp"
#include "kernels/ring/shard_keys.hpp"

namespace hilbench {

// Where the computing rank finds the keys of one shard.
struct PieceKeys {
  const Ring& ring;
  std::int64_t rank;                // whose shard
  std::vector<std::int32_t> slots;  // order_of; not read if packed
  bool packed = false;
  std::int32_t number = 0;  // of the source in a walk, see KeyStretch

  PieceKeys(const Ring& of, std::int64_t computing, std::int64_t source)
      : ring(of), rank(source), packed(computing != source && of.packed(source)) {
    if (!packed) slots = order_of(of, source);
  }
};

struct PieceTiles {
  std::int64_t rows = 1;  // the most query rows of a tile
  CausalTraversal causal = CausalTraversal::head_major;
};

// An entry of ring_index's `branches`: without tiles if the rank has nothing to compute.
BranchIndex piece_branch(const Ring& ring, std::int64_t rank, const PieceKeys& source, std::int64_t branch,
                         FirstPiece first, const PieceTiles& tiles);

// The same for a launch that walks the keys of `sources`, the computing rank's own ones first. Tiles without
// a key that would only merge are left out.
WalkBranch walk_branch(const Ring& ring, std::int64_t rank, const std::vector<PieceKeys>& sources,
                       std::int64_t branch, const PieceTiles& tiles);

}  // namespace hilbench
