// The index of a variant: everything that is derived from pattern, order and traversal before a kernel runs.
// Kernels read rows through it, so that orders share one kernel body and differ only here.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "harness/case.hpp"
#include "harness/variant_spec.hpp"
#include "kernels/traversals/traversal.hpp"

namespace hilbench {

// The selected keys of one branch. Streams (classes of K/V heads with equal offset o) come first to last by
// o; inside a stream segments follow each other; inside a segment keys stand in visiting sequence: by
// position, or by slot (`key_visit: slot`).
struct BranchIndex {
  std::vector<std::int64_t> offsets;         // offset o of each stream, ascending
  std::vector<std::int32_t> stream_of_head;  // [kv_heads]: index into `offsets`
  std::vector<std::int64_t> begin;           // [streams * segments + 1]: first key of (stream, segment)
  std::vector<std::int32_t> key_slot;        // memory slot of each key
  std::vector<std::int32_t> key_position;    // original position of each key
  std::int64_t segments = 0;
  std::int64_t tile_rows = 0;          // query rows of a tile
  std::int64_t tiles_per_segment = 0;  // of the longest segment with offset 0
  std::vector<std::int32_t> y_head;    // grid row -> batch index * heads + head that runs this branch
  std::vector<TileVisit> tiles;        // x = segment * tiles_per_segment + tile; y indexes y_head. Every tile
                                       // listed holds at least one query row; those without are left out
};

struct Index {
  std::vector<std::int32_t> q_slots;  // slot of each position; empty: linear
  std::vector<std::int32_t> k_slots;  // for K and V
  std::vector<BranchIndex> branches;
};

// `tile_rows`: query rows of a kernel's tile. Throws UsageError where the order cannot be built or gives a
// slot outside the sequence, and from 2^31 positions or grid rows on (rows are numbered with 32 bits). A
// baseline reads position order. For order_scope tokens the index is that of the linear order: the harness
// permutes the tensors.
Index build_index(const Case& work, const VariantSpec& variant, std::int64_t tile_rows);

// Query rows of one tile: `count` of them, the first at position `first`, each `step` after the one before.
// They are the rows [tile * tile_rows, ...) of the segment's queries.
struct TileQueries {
  std::int64_t first = 0, step = 1, count = 0;
  std::int64_t last() const { return first + (count - 1) * step; }
};
TileQueries tile_queries(const Case& work, const Index& index, std::size_t branch_index,
                         const TileVisit& tile);

// Bytes that the index occupies at most in host memory, without building it.
double index_bytes(const Case& work, const VariantSpec& variant, std::int64_t tile_rows);
// The same of what stands of it in a GPU's memory: tiles of kDeviceTileBytes, and tables where rows are not
// at one distance from each other.
constexpr std::int64_t kDeviceTileBytes = 48;
double device_index_bytes(const Case& work, const VariantSpec& variant, std::int64_t tile_rows);

// The sequence of (slots per tile) that measure_locality wants, for the first head of the first batch entry:
// of each tile's segment the keys up to the tile's last visible one, backwards where the tile says so. Every
// branch has an equal share of `limit` visits, and ends with the tile that passes it.
struct TileReads {
  std::vector<std::int64_t> visits;
  std::vector<std::int64_t> tile_begin;
};
TileReads tile_reads(const Case& work, const Index& index, std::int64_t limit);

}  // namespace hilbench
