// One query tile of fused dilated attention: online softmax over the selected keys of its segment (LongNet,
// arXiv 2307.02486, Eqs. 6-10), no score matrix beyond one block of keys.
//
// Lanes are queries. Q and O stand transposed, [head_dim][queries], so that row maxima, sums and rescaling
// are plain vector arithmetic, and rows of K and V are read as they lie in memory. Where bf16 is multiplied
// as such, probabilities are rounded to it; scores, their maxima and sums, and O stay fp32.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/case/case.hpp"
#include "kernels/cpu/bf16_products.hpp"

namespace hilbench {

enum class Combine {
  store,  // this branch is the first that the head runs: o and lse are written, never read
  merge,  // o and lse hold the result of earlier branches
};

// Query rows: `count` of them from row `first` on, each `step` after the one before.
struct TileQueries {
  std::int64_t first = 0, step = 1, count = 0;
  std::int64_t last() const { return first + (count - 1) * step; }
};

struct Tile {
  Dtype dtype = Dtype::fp32;                           // of q, k, v: fp32 or bf16
  Bf16Products bf16_products = Bf16Products::widened;  // one of available_bf16_products()
  std::int64_t head_dim = 0;
  // Bases at (batch, head): the row in slot s begins s * stride elements later.
  const void* q = nullptr;
  const void* k = nullptr;
  const void* v = nullptr;
  std::int64_t q_stride = 0;
  std::int64_t kv_stride = 0;
  TileQueries queries;
  std::span<const std::int32_t> q_slots;  // slot of each row; empty: linear
  // Keys in visiting sequence; under a causal mask the rows from key_position on see them.
  std::span<const std::int32_t> key_slot;
  std::span<const std::int32_t> key_position;
  bool keys_backwards = false;
  Mask mask = Mask::full;
  // Bases at (batch, head), position order: o rows q_stride elements apart, lse `lse_stride` apart.
  void* o = nullptr;
  Dtype o_dtype = Dtype::fp32;
  float* lse = nullptr;
  std::int64_t lse_stride = 0;
  Combine combine = Combine::store;
};

// Floats of workspace, 64-byte aligned, that run_tile needs for tiles of at most `tile_rows` queries.
std::int64_t tile_workspace_floats(std::int64_t head_dim, std::int64_t tile_rows);

// Writes o and lse of the tile's rows. A row that sees no key gives 0 and -infinity.
void run_tile(const Tile& tile, float* workspace);

// Instruction set that tiles are computed with ("AVX3_DL"), as Highway names it.
std::string_view vector_instructions();
// Whether that set comes with products of bf16 pairs, on processors that have them.
bool multiplies_pairs();

enum class Clearing { cached, past_caches };
// Zeros. Others see them once the thread that wrote them has finished.
void clear(std::byte* memory, std::size_t bytes, Clearing clearing);
void finish_clearing(Clearing clearing);

// to[i] = from[i] rounded to bf16, to nearest even.
void round_to_bf16(const float* from, std::uint16_t* to, std::int64_t count);

}  // namespace hilbench
