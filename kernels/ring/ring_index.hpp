// The indices of one rank of a ring: what it computes with the keys of each shard, and which of its
// own rows it packs.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/index/index.hpp"
#include "kernels/ring/ring.hpp"
#include "kernels/traversals/fastest.hpp"

namespace hilbench {

// What a rank stores: the original position in each row of its Q (and O), and in each slot of its K and V.
std::vector<std::int32_t> stored_q_positions(const Ring& ring, std::int64_t rank);
std::vector<std::int32_t> stored_kv_positions(const Ring& ring, std::int64_t rank);

// Rows of a shard's K and V that are sent packed: for each class of K/V heads its slots of the shard, by
// branch, then segment, then position. Packed K and V are [batch, rows, kv_heads, head_dim], or with
// `heads_first` [batch, kv_heads, rows, head_dim]; for a class with fewer slots than `rows`, the last rows
// are not written.
struct PackedShard {
  std::int64_t rows = 0;
  bool heads_first = false;
  std::vector<std::vector<std::int32_t>> slots;  // [classes]
  std::vector<std::int32_t> class_of_head;       // [kv_heads]
};
PackedShard packed_shard(const Ring& ring, std::int64_t source);
// All rows of a shard, as they are stored.
PackedShard whole_shard(const Ring& ring, std::int64_t source);

enum class FirstPiece { no, yes };
struct PieceOptions {
  std::int64_t head_part = 0;
  CausalTraversal causal = CausalTraversal::head_major;  // what the kernel takes as traversal `auto`
};

// If the ring splits heads: the index of all queries and keys for a part of the heads of `rank`, whatever the
// source.
// Rows of Q, K and V are those of rank 0, then those of rank 1 ..., as each stores them; O and LSE are by
// position. Else: the index of queries of `rank` with those keys in the shard of `source` that some query
// sees. Rows are those of the ranks' tensors, or of the packed shard. The first piece writes every row of O
// and LSE (0 and -infinity for a row without key), all others merge. `branches` has one entry per launch,
// none if there is nothing to compute.
Index ring_index(const Ring& ring, std::int64_t rank, std::int64_t source, FirstPiece first,
                 std::int64_t tile_rows, const PieceOptions& options = {});

}  // namespace hilbench
