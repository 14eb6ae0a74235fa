// The index of a variant: everything that is derived from pattern, order and traversal before a kernel runs.
// Kernels read rows through it, so that orders share one kernel body and differ only here.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/case/case.hpp"
#include "kernels/case/variant.hpp"

namespace hilbench {

// Queries of one head and batch entry against a stretch of keys: what a kernel works on at a time. Rows are
// those of Q, O and LSE in position order, numbered inside a batch entry: on one rank row and position are
// the same.
struct IndexTile {
  std::int64_t key_begin = 0;    // key j is entry key_begin + j of the branch's lists
  std::int32_t key_count = 0;    // keys to read; may be 0. Of ascending keys those that the last query sees
  std::int32_t unmasked = 0;     // leading keys that every query sees; key_count where there is no mask
  std::int32_t query_row = 0;    // row of query 0; query i is in row query_row + i * query_step
  std::int32_t query_step = 1;   // the same in all tiles of a branch
  std::int32_t query_count = 0;  // 1 .. tile_rows
  std::int32_t batch = 0;
  std::int32_t head = 0;
  std::int32_t kv_head = 0;
  bool keys_backwards = false;  // visit the keys from the last to the first
  bool merge = false;           // O and LSE of these rows stand in memory already: combine with them
  std::int64_t last_row() const { return query_row + std::int64_t{query_count - 1} * query_step; }
};

// What a kernel does in one go: no two tiles share a row of O. The keys stand in lists, one after another: on
// one rank a list for each stream (class of K/V heads with equal offset o) and segment, first by o. Inside
// a list they stand in visiting sequence: by position, or by slot (`key_visit: slot`).
struct BranchIndex {
  std::vector<std::int64_t> begin;         // [lists + 1]: first key of each list
  std::vector<std::int32_t> key_slot;      // memory slot of each key
  std::vector<std::int32_t> key_position;  // the first row that sees the key under a causal mask
  std::int32_t key_step = 1;               // of key_position inside a list, where keys_by_step
  bool keys_by_step = true;                // false: a causal mask has to look every key up in key_position
  std::vector<IndexTile> tiles;            // in the sequence of the traversal; each holds a query row or more
};

struct Index {
  std::int64_t q_rows = 0;            // rows of Q, O and LSE in a batch entry
  std::int64_t kv_rows = 0;           // rows of K and V in a batch entry
  std::vector<std::int32_t> q_slots;  // slot of each row; empty: linear
  std::vector<std::int32_t> k_slots;  // for K and V
  std::vector<BranchIndex> branches;
};

// `tile_rows`: query rows of a kernel's tile. Throws UsageError where the order cannot be built or gives a
// slot outside the sequence, and from 2^31 positions or grid rows on (rows are numbered with 32 bits). A
// baseline reads position order. For order_scope tokens the index is that of the linear order: the harness
// permutes the tensors.
Index build_index(const Case& work, const Variant& variant, std::int64_t tile_rows);

// Bytes that the index occupies at most in host memory, without building it.
double index_bytes(const Case& work, const Variant& variant, std::int64_t tile_rows);
// The same of what stands of it in a GPU's memory: tiles of kDeviceTileBytes, and tables where rows are not
// at one distance from each other.
constexpr std::int64_t kDeviceTileBytes = 48;
double device_index_bytes(const Case& work, const Variant& variant, std::int64_t tile_rows);

// The sequence of (slots per tile) that measure_locality wants, for the first head of the first batch entry:
// of each tile's segment the keys up to the tile's last visible one, backwards where the tile says so. Every
// branch has an equal share of `limit` visits, and ends with the tile that passes it.
struct TileReads {
  std::vector<std::int64_t> visits;
  std::vector<std::int64_t> tile_begin;
};
TileReads tile_reads(const Case& work, const Index& index, std::int64_t limit);

}  // namespace hilbench
