// One query tile of fused dilated attention: online softmax over the selected keys of its segment (LongNet,
// arXiv 2307.02486, Eqs. 6-10). Scores are kept for one block of keys only.
//
// The lanes of a vector are queries. Q and O are kept transposed, [head_dim][queries], so row maxima, sums
// and rescaling are plain vector arithmetic, and rows of K and V are read as they lie in memory. If bf16
// is multiplied without widening, probabilities are rounded to bf16; scores, their maxima and sums, and O
// stay in fp32.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/case/case.hpp"
#include "kernels/case/dropout.hpp"
#include "kernels/cpu/bf16_products.hpp"
#include "kernels/index/index.hpp"

namespace hilbench {

enum class Combine {
  store,  // this is the first branch that the head runs: o and lse are written, not read
  merge,  // o and lse hold the result of earlier branches
};

// Query rows: first, first + step, ...; `count` of them.
struct TileQueries {
  std::int64_t first = 0, step = 1, count = 0;
  std::int64_t last() const { return first + (count - 1) * step; }
};

// Which queries of a tile of windows see which keys: for each block of keys of the tile's list, a number in
// `masks` or kUnmasked. Empty if every query sees every key.
struct TileMasks {
  std::span<const std::int32_t> of_block;
  const BlockMask* masks = nullptr;
  // The mask of key `key` of the list; null if every query sees it.
  const KeyMask* of_key(std::size_t key) const {
    const std::int32_t mask = of_block[key / kMaskedKeys];
    return mask == kUnmasked ? nullptr : &masks[mask][key % kMaskedKeys];
  }
};

// Dropout of a tile; `dropout` may keep every pair. Queries of a tile follow each other in their segment.
struct TileDropout {
  Dropout dropout;
  DropoutStream stream;
  std::uint32_t first_query = 0;              // number of query 0 in its segment
  std::span<const std::int32_t> key_ordinal;  // numbers of the keys in theirs; empty: 0, 1, ...
};

struct Tile {
  Dtype dtype = Dtype::fp32;                           // of q, k, v: fp32 or bf16
  Bf16Products bf16_products = Bf16Products::widened;  // one of available_bf16_products()
  std::int64_t head_dim = 0;
  // Pointers to (batch, head): the row in slot s begins s * stride elements later.
  const void* q = nullptr;
  const void* k = nullptr;
  const void* v = nullptr;
  std::int64_t q_stride = 0;
  std::int64_t kv_stride = 0;
  TileQueries queries;
  std::span<const std::int32_t> query_rows;  // if `queries` numbers the slots of Q: the row in each slot
  std::span<const std::int32_t> q_slots;     // slot of each row; empty: linear
  // Keys in visiting sequence. Under a causal mask a key is seen by the rows from its key_position on.
  std::span<const std::int32_t> key_slot;
  std::span<const std::int32_t> key_position;  // empty without a causal mask, or with `masks`
  TileMasks masks;
  TileDropout dropout;
  bool keys_backwards = false;
  Mask mask = Mask::full;
  // Pointers to (batch, head), in position order: rows of o are q_stride elements apart, lse `lse_stride`.
  void* o = nullptr;
  Dtype o_dtype = Dtype::fp32;
  float* lse = nullptr;
  std::int64_t lse_stride = 0;
  Combine combine = Combine::store;
};

// Floats of workspace, 64-byte aligned, that run_tile needs for tiles of at most `tile_rows` queries.
std::int64_t tile_workspace_floats(std::int64_t head_dim, std::int64_t tile_rows);

// Writes o and lse of the tile's rows: 0 and -infinity for a row that sees no key.
void run_tile(const Tile& tile, float* workspace);

// The instruction set that tiles are computed with, as Highway names it ("AVX3_DL"; see simd_text).
std::string_view vector_instructions();
// True if the code for that set can multiply bf16 pairs on processors that have the instructions.
bool multiplies_pairs();

enum class Clearing { cached, past_caches };
// clear writes zeros; finish_clearing completes the writes of the calling thread.
void clear(std::byte* memory, std::size_t bytes, Clearing clearing);
void finish_clearing(Clearing clearing);

// to[i] = from[i] rounded to bf16, ties to even.
void round_to_bf16(const float* from, std::uint16_t* to, std::int64_t count);

}  // namespace hilbench
