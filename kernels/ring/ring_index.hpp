// The indices of one rank of a ring: what it computes against each shard, and which of its own rows it packs.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/index/index.hpp"
#include "kernels/ring/ring.hpp"

namespace hilbench {

// What a rank stores: the original position in each row of its Q (and O), and in each slot of its K and V.
std::vector<std::int32_t> stored_q_positions(const Ring& ring, std::int64_t rank);
std::vector<std::int32_t> stored_kv_positions(const Ring& ring, std::int64_t rank);

// Rows of a shard's K and V that are sent packed: for each class of K/V heads slots of the shard, branch
// after branch and segment after segment, each by position. Packed K and V are [batch, rows, kv_heads,
// head_dim]; a class with fewer slots than `rows` leaves the last ones as they are.
struct PackedShard {
  std::int64_t rows = 0;
  std::vector<std::vector<std::int32_t>> slots;  // [classes]
  std::vector<std::int32_t> class_of_head;       // [kv_heads]
};
PackedShard packed_shard(const Ring& ring, std::int64_t source);

enum class FirstPiece { no, yes };

// Queries of `rank` against the keys that lie in the shard of `source` and that some of them see; rows are
// those of the ranks' tensors, or of the packed shard. The first piece writes every row of O and LSE (0 and
// -infinity where it has no key for it), all others merge. `branches` holds one entry for every launch: none
// where there is nothing to do.
Index ring_index(const Ring& ring, std::int64_t rank, std::int64_t source, FirstPiece first,
                 std::int64_t tile_rows);

}  // namespace hilbench
