// The index of a variant: everything that follows from pattern, order and traversal before a kernel runs.
// Kernels read rows through it, so all orders share one kernel body and differ only here.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernels/base/files/untouched_vector.hpp"
#include "kernels/case/case.hpp"
#include "kernels/case/variant.hpp"
#include "kernels/traversals/fastest.hpp"

namespace hilbench {

// The unit of work of a kernel: queries of one head and batch entry against a stretch of keys. Rows are
// those of Q, O and LSE in position order, numbered inside a batch entry. On one rank row and position
// are the same.
struct IndexTile {
  std::int64_t key_begin = 0;    // key j is entry key_begin + j of the branch's lists
  std::int32_t key_count = 0;    // keys to read, may be 0; if keys ascend, those that the last query sees
  std::int32_t unmasked = 0;     // leading keys that every query sees; key_count if there is no mask
  std::int32_t query_row = 0;    // row of query 0; query i is in row query_row + i * query_step
  std::int32_t query_step = 1;   // the same in all tiles of a branch
  std::int32_t query_count = 0;  // 1 .. tile_rows
  std::int32_t batch = 0;
  std::int32_t head = 0;
  std::int32_t kv_head = 0;
  bool keys_backwards = false;  // visit the keys from the last to the first
  bool merge = false;           // memory already holds O and LSE of these rows: combine with them
  std::int32_t stretches = 0;   // of a walk over several sources (walk.hpp), else 0
  std::int64_t last_row() const { return query_row + std::int64_t{query_count - 1} * query_step; }
};

// Which queries of a tile of windows see the keys of one block of its list: bit i % 64 of word i / 64 of a
// key is query i.
inline constexpr std::int64_t kMaskedRows = 128;  // most query rows of such a tile
inline constexpr std::int64_t kMaskedKeys = 128;  // keys of a block; the last one of a list may be shorter
using KeyMask = std::array<std::uint64_t, kMaskedRows / 64>;
using BlockMask = std::array<KeyMask, kMaskedKeys>;
inline constexpr std::int32_t kUnmasked = -1;  // every query sees every key of the block

// Masks that nobody changes any more (kernels/windows/mask_store.hpp makes them); copies share them.
struct MaskList {
  std::shared_ptr<const BlockMask[]> memory;
  std::size_t count = 0;
  std::size_t size() const { return count; }
  const BlockMask* data() const { return memory.get(); }
  const BlockMask& operator[](std::size_t number) const {
    return memory[static_cast<std::ptrdiff_t>(number)];
  }
};

// The tiles of one launch: no two of them share a row of O. The keys are in lists, one after another. On one
// rank there is a list for each stream (the K/V heads with equal offset o) and segment, sorted by o first.
// Keys of a list are in visiting sequence: by position, or by slot (`key_visit: slot`).
struct BranchIndex {
  std::vector<std::int64_t> begin;             // [lists + 1]: first key of each list
  UntouchedVector<std::int32_t> key_slot;      // memory slot of each key
  UntouchedVector<std::int32_t> key_position;  // the first row that sees the key under a causal mask
  // With dropout, if keys are visited by slot: the number of each key among those of its list in position
  // order. Empty: key j of a list is number j.
  UntouchedVector<std::int32_t> key_ordinal;
  std::int32_t key_step = 1;     // step of key_position inside a list, if keys_by_step
  bool keys_by_step = true;      // false: a causal mask must read key_position of every key
  std::vector<IndexTile> tiles;  // in the sequence of the traversal; each has a query row or more
  // Of windows, else empty. There is a list of keys for each kMaskedRows query rows (or slots of Q), and
  // key_position is empty: masks say everything.
  std::vector<std::int32_t> query_rows;     // if tiles number the slots of Q: the row in each slot
  std::vector<std::int64_t> block_begin;    // [lists + 1]: first block of each list
  std::vector<std::int32_t> mask_of_block;  // of each block of each list: a number in `masks`, or kUnmasked
  MaskList masks;                           // each once
  // Of each list the block that most rows see (kernels/windows/fullest_blocks.hpp), if there are no masks
  // from which it can be told (IndexContents::shape).
  std::vector<std::int64_t> fullest_block;
};

struct Index {
  std::int64_t q_rows = 0;            // rows of Q, O and LSE in a batch entry
  std::int64_t kv_rows = 0;           // rows of K and V in a batch entry
  std::vector<std::int32_t> q_slots;  // slot of each row; empty: linear
  std::vector<std::int32_t> k_slots;  // for K and V
  std::vector<BranchIndex> branches;
};

// `tile_rows`: query rows of a kernel's tile; `facts`: what the traversals depend on. A baseline gets the
// linear order. So do order_scope tokens and keys, because there the harness permutes the tensors. Throws
// UsageError if the order cannot be built or gives a slot outside the sequence, or if there are 2^31
// positions or grid rows (rows are numbered with 32 bits).
Index build_index(const Case& work, const KernelChoice& choice, std::int64_t tile_rows,
                  const TraversalFacts& facts = {});

// Slot of each position in memory; empty if the tensors are stored in position order.
std::vector<std::int32_t> stored_slots(const Case& work, const KernelChoice& choice);

// Upper bounds, without building the index: of its tiles, and of its bytes in host memory.
double index_tiles(const Case& work, std::int64_t tile_rows);
double index_bytes(const Case& work, const KernelChoice& choice, std::int64_t tile_rows);
// The same for the part in a GPU's memory: tiles of kDeviceTileBytes each, and tables if rows are
// not equally spaced.
constexpr std::int64_t kDeviceTileBytes = 48;
double device_index_bytes(const Case& work, const KernelChoice& choice, std::int64_t tile_rows);

// The slots that each tile of the first head of the first batch entry reads, as measure_locality takes them:
// the keys of the tile's segment up to the last visible one, backwards if the tile visits them so. Every
// branch gets an equal share of `limit` visits and ends with the tile that exceeds it.
struct TileReads {
  std::vector<std::int64_t> visits;
  std::vector<std::int64_t> tile_begin;
};
TileReads tile_reads(const Case& work, const Index& index, std::int64_t limit);

}  // namespace hilbench
