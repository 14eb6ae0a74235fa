// Collects the rows of a tensor that a ring sends.
#pragma once

#include <cstdint>

#include "kernels/ring/ring_index.hpp"

namespace hilbench {

// to[b, i, g, :] = from[b, slots of g's class[i], g, :] for head rows of `head_bytes` (head_dim * element
// size). A batch entry has from_rows rows in `from` and packed.rows rows in `to`; the two do not overlap.
// With packed.heads_first `to` is [batch, kv_heads, rows, head_bytes].
void pack_rows(const void* from, void* to, std::int64_t batch, std::int64_t from_rows,
               const PackedShard& packed, std::int64_t head_bytes, int threads);

}  // namespace hilbench
