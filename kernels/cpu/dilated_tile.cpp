#include "kernels/cpu/dilated_tile.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <utility>

// Vectors of a length unknown at compile time cannot stand in the register tile's array.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/dilated_tile.cpp"
#include "hwy/cache_control.h"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels/cpu/amx_products.hpp"
#include "kernels/cpu/matrix_tile-inl.hpp"
#include "kernels/cpu/pair_products-inl.hpp"
#include "kernels/cpu/rows-inl.hpp"
#include "kernels/cpu/softmax_state-inl.hpp"

#ifndef HILBENCH_KERNELS_CPU_DILATED_TILE_CPP_
#define HILBENCH_KERNELS_CPU_DILATED_TILE_CPP_
namespace hilbench {

constexpr std::size_t kKeyBlock = 128;  // keys gathered at a time: probabilities of a panel stay in L1
constexpr std::size_t kMaxPanel = 48;   // queries of a register tile, at most
constexpr std::size_t kMaxLanes = 16;
constexpr std::size_t kMaxStaged = std::max(kMaxPanel, kKeyBlock / 2);  // rows that are transposed together
// Of fp32 values: keys that a slab of kTileRows elements has room for. A slab of 4 KiB would put the elements
// of a key into one set of a cache.
constexpr std::size_t kSlabKeys = kKeyBlock + 8;
constexpr std::size_t kKeysAhead = 32;  // whose scores are made beside other work
constexpr std::size_t kWidthStep = 32;  // of padded head_dim: two tile registers
constexpr std::size_t kLineBytes = 64;

constexpr std::size_t round_up(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Workspace of one thread. `width` is head_dim rounded up, `queries` those of a tile rounded up. Panels of
// queries follow each other in q and o: a panel that begins at query i begins at i * width.
// Where bf16 is multiplied as pairs, two that meet in a sum share a word of four bytes, kept as a float: then
// q is [width / 2][panel], k [kKeyBlock][width / 2], v [width][kKeyBlock / 2] and probabilities, which begin
// where the scores did, [kKeyBlock / 2][panel].
struct TileBuffers {
  std::size_t width;
  std::size_t queries;
  float* rows;                   // [kMaxStaged][width], on the way to or from the transposed form
  float* q;                      // panels of [width][panel]
  float* o;                      // panels of [width][panel]
  float* k;                      // [kKeyBlock][width]
  float* v;                      // [width / kTileRows][kSlabKeys][kTileRows]
  float* scores;                 // [kKeyBlock][panel], then probabilities
  float* scores_ahead;           // the same, of the next panel
  float* max;                    // [queries], as in SoftmaxState
  float* sum;                    // [queries]
  float* lse;                    // [queries]: of earlier branches, then with this one
  float* factor;                 // [queries] of this branch's sums
  float* own;                    // [queries] of the row in memory
  std::int32_t* query_position;  // [queries]
  std::int32_t* key_position;    // [kKeyBlock]

  TileBuffers(float* memory, std::size_t head_dim, std::size_t tile_rows)
      : width(round_up(head_dim, kWidthStep)), queries(round_up(tile_rows, kMaxLanes)) {
    const auto take = [&](std::size_t count) { return std::exchange(memory, memory + count); };
    rows = take(kMaxStaged * width);
    q = take(queries * width);
    o = take(queries * width);
    k = take(kKeyBlock * width);
    v = take(kSlabKeys * width);
    scores = take(kKeyBlock * kMaxPanel);
    scores_ahead = take(kKeyBlock * kMaxPanel);
    max = take(queries);
    sum = take(queries);
    lse = take(queries);
    factor = take(queries);
    own = take(queries);
    query_position = reinterpret_cast<std::int32_t*>(take(queries));
    key_position = reinterpret_cast<std::int32_t*>(take(kKeyBlock));
    end = memory;
  }
  float* end;  // of the workspace
};

}  // namespace hilbench
#endif

HWY_BEFORE_NAMESPACE();
namespace hilbench {
namespace HWY_NAMESPACE {

// Queries [begin, begin + count) of the tile in `vectors` vectors.
struct Panel {
  std::size_t begin, count, vectors;
  std::size_t size() const { return vectors * kLanes; }
};

// Of at most `widest` vectors.
Panel panel_at(std::size_t begin, std::size_t queries, std::size_t widest) {
  const std::size_t count = std::min(queries - begin, widest * kLanes);
  return {begin, count, (count + kLanes - 1) / kLanes};
}

// Keys gathered into k and v, and the range of their positions.
struct KeyBlock {
  std::size_t count = 0;
  std::int64_t first_position = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_position = -1;
};

template <class Element>
const Element* row_of(const void* base, std::int64_t slot, std::int64_t stride) {
  return static_cast<const Element*>(base) + slot * stride;
}

void widen_from(const Tile& tile, const void* base, std::int64_t slot, std::int64_t stride, std::size_t width,
                float* to) {
  const auto head_dim = static_cast<std::size_t>(tile.head_dim);
  if (tile.dtype == Dtype::fp32)
    widen_row(row_of<float>(base, slot, stride), head_dim, width, to);
  else
    widen_row(row_of<std::uint16_t>(base, slot, stride), head_dim, width, to);
}

void widen_value(const Tile& tile, std::int64_t slot, std::size_t width, float* to) {
  const auto head_dim = static_cast<std::size_t>(tile.head_dim);
  constexpr std::size_t kSlab = kSlabKeys * kTileRows;
  if (tile.dtype == Dtype::fp32)
    widen_row_to_slabs(row_of<float>(tile.v, slot, tile.kv_stride), head_dim, width, kSlab, to);
  else
    widen_row_to_slabs(row_of<std::uint16_t>(tile.v, slot, tile.kv_stride), head_dim, width, kSlab, to);
}

// How operands stand in the buffers and what multiplies them. The rest of the tile is the same for all.
//   kWidest               vectors of a panel at most
//   kPairs                words are two bf16
//   kAhead                products and vector arithmetic go on side by side: scores of the next panel are
//   made
//                         while those of this one become probabilities
//   words(width)          words of a row of `width` elements
//   exponential           2^x as exact as the words are
//   gather_row            a query into a row that is transposed later, or a key into its place
//   gather_value, finish_values  a row of V; what is left to do when the block is complete
//   scores, values        Q K^T and, added to O times `factor`, P V of a panel with a block; with kAhead,
//                         scores_of_keys gives kKeysAhead keys' rows of Q K^T
struct Singles {
  static constexpr std::size_t kWidest = kTileVectors;
  static constexpr bool kPairs = false;
  static constexpr bool kAhead = false;
  static std::size_t words(std::size_t width) { return width; }
  static Vector exponential(Vector x) { return exp2_or_zero(x); }

  static void gather_row(const Tile& tile, const void* base, std::int64_t slot, std::int64_t stride,
                         const TileBuffers& buffers, float* to) {
    widen_from(tile, base, slot, stride, buffers.width, to);
  }
  static void gather_value(const Tile& tile, std::int64_t slot, const TileBuffers& buffers, std::size_t key) {
    widen_value(tile, slot, buffers.width, buffers.v + key * kTileRows);
  }
  static void finish_values(const TileBuffers&, std::size_t) {}

  template <std::size_t kVectors>
  void scores(const TileBuffers& buffers, const float* q, std::size_t head_dim, std::size_t keys) {
    for (std::size_t key = 0; key < keys; key += kTileRows)
      multiply_tile<kVectors>(buffers.k + key * buffers.width, buffers.width, 1, q, head_dim, nullptr,
                              buffers.scores + key * kVectors * kLanes);
  }
  template <std::size_t kVectors>
  void values(const TileBuffers& buffers, const float* p, std::size_t head_dim, std::size_t keys,
              const float* factor, float* o) {
    for (std::size_t d = 0; d < head_dim; d += kTileRows)
      multiply_tile<kVectors>(buffers.v + d * kSlabKeys, 1, kTileRows, p, keys, factor,
                              o + d * kVectors * kLanes);
  }
};

#if HWY_ARCH_X86_64 && HWY_TARGET <= HWY_AVX3
// Rows of bf16 as they lie in memory; values with those of the next key, transposed when the block is full.
struct Pairs {
  static constexpr bool kPairs = true;
  static std::size_t words(std::size_t width) { return width / 2; }
  static Vector exponential(Vector x) { return exp2_or_zero_for_bf16(x); }

  static Vector pair_of(Vector lower, Vector upper) { return round_to_pair(lower, upper); }
  static void gather_row(const Tile& tile, const void* base, std::int64_t slot, std::int64_t stride,
                         const TileBuffers& buffers, float* to) {
    copy_row(row_of<std::uint16_t>(base, slot, stride), static_cast<std::size_t>(tile.head_dim),
             buffers.width, to);
  }
  static void gather_value(const Tile& tile, std::int64_t slot, const TileBuffers& buffers, std::size_t key) {
    join_row(row_of<std::uint16_t>(tile.v, slot, tile.kv_stride), static_cast<std::size_t>(tile.head_dim),
             buffers.width, key % 2 == 0 ? Half::lower : Half::upper, buffers.rows + key / 2 * buffers.width);
  }
  // Pairs past the last key are 0, as many as a tile register takes.
  static void finish_values(const TileBuffers& buffers, std::size_t keys) {
    const std::size_t pairs = (keys + 1) / 2;
    const std::size_t whole = round_up(pairs, kAmxWords);
    std::fill(buffers.rows + pairs * buffers.width, buffers.rows + whole * buffers.width, 0.0f);
    transpose(buffers.rows, whole, buffers.width, buffers.width, buffers.v, kKeyBlock / 2);
  }
};

struct VectorPairs : Pairs {
  static constexpr std::size_t kWidest = kTileVectors;
  static constexpr bool kAhead = false;

  template <std::size_t kVectors>
  void scores(const TileBuffers& buffers, const float* q, std::size_t head_dim, std::size_t keys) {
    multiply_pairs<kVectors>(buffers.k, words(buffers.width), q, round_up(keys, kTileRows),
                             (head_dim + 1) / 2, nullptr, buffers.scores);
  }
  template <std::size_t kVectors>
  void values(const TileBuffers& buffers, const float* p, std::size_t head_dim, std::size_t keys,
              const float* factor, float* o) {
    multiply_pairs<kVectors>(buffers.v, kKeyBlock / 2, p, round_up(head_dim, kTileRows), (keys + 1) / 2,
                             factor, o);
  }
};

struct TilePairs : Pairs {
  static constexpr std::size_t kWidest = 2;
  static constexpr bool kAhead = true;
  AmxTiles tiles;

  template <std::size_t kVectors>
  void scores_of_keys(const TileBuffers& buffers, const float* q, std::size_t key, float* scores) {
    const std::size_t row_words = words(buffers.width);
    multiply_amx_block<kVectors>(tiles, buffers.k + key * row_words, row_words, q, row_words,
                                 Start::from_zero, scores + key * kVectors * kLanes);
  }
  template <std::size_t kVectors>
  void values(const TileBuffers& buffers, const float* p, std::size_t, std::size_t keys, const float* factor,
              float* o) {
    scale_rows<kVectors>(o, buffers.width, factor);
    multiply_amx<kVectors>(tiles, buffers.v, kKeyBlock / 2, p, buffers.width,
                           round_up((keys + 1) / 2, kAmxWords), Start::from_result, o);
  }
};
#endif

// Rows that are read or written one by one are asked for so many ahead: strides are too long for the
// processor to foresee.
constexpr std::size_t kRowsAhead = 24;

template <int kWrites>
void prefetch_row(const void* base, std::int64_t first_byte, std::int64_t bytes) {
  const char* row = static_cast<const char*>(base) + first_byte;
  for (std::int64_t byte = 0; byte < bytes; byte += std::int64_t{kLineBytes})
    __builtin_prefetch(row + byte, kWrites, 3);
}

std::int64_t slot_of_query(const Tile& tile, std::size_t i) {
  const std::int64_t position = tile.queries.first + static_cast<std::int64_t>(i) * tile.queries.step;
  return tile.q_slots.empty() ? position : tile.q_slots[static_cast<std::size_t>(position)];
}

template <class Products>
void gather_queries(const Tile& tile, const Panel& panel, const TileBuffers& buffers) {
  const std::size_t words = Products::words(buffers.width);
  const std::int64_t element = dtype_bytes(tile.dtype);
  for (std::size_t i = 0; i < panel.size(); ++i) {
    float* row = buffers.rows + i * words;
    if (i >= panel.count) {
      std::fill_n(row, words, 0.0f);
      buffers.query_position[panel.begin + i] = std::numeric_limits<std::int32_t>::max();
      continue;
    }
    const std::size_t query = panel.begin + i;
    if (query + kRowsAhead < static_cast<std::size_t>(tile.queries.count))
      prefetch_row<0>(tile.q, slot_of_query(tile, query + kRowsAhead) * tile.q_stride * element,
                      element * tile.head_dim);
    Products::gather_row(tile, tile.q, slot_of_query(tile, query), tile.q_stride, buffers, row);
    buffers.query_position[query] =
        static_cast<std::int32_t>(tile.queries.first + static_cast<std::int64_t>(query) * tile.queries.step);
  }
  transpose(buffers.rows, panel.size(), words, words, buffers.q + panel.begin * words, panel.size());
  std::fill_n(buffers.o + panel.begin * buffers.width, panel.size() * buffers.width, 0.0f);
  std::fill_n(buffers.max + panel.begin, panel.size(), kMinusInfinity);
  std::fill_n(buffers.sum + panel.begin, panel.size(), 0.0f);
}

// Takes the next keys from `next` on, leaving out those that no query of the tile sees.
template <class Products>
KeyBlock gather_keys(const Tile& tile, const TileBuffers& buffers, std::size_t& next) {
  const std::int64_t last_query = tile.queries.last();
  const std::size_t keys = tile.key_slot.size();
  KeyBlock block;
  for (; next < keys && block.count < kKeyBlock; ++next) {
    const std::size_t key = tile.keys_backwards ? keys - 1 - next : next;
    const std::int32_t position = tile.key_position[key];
    if (tile.mask == Mask::causal && position > last_query) continue;
    const std::int64_t slot = tile.key_slot[key];
    Products::gather_row(tile, tile.k, slot, tile.kv_stride, buffers,
                         buffers.k + block.count * Products::words(buffers.width));
    Products::gather_value(tile, slot, buffers, block.count);
    buffers.key_position[block.count++] = position;
    block.first_position = std::min<std::int64_t>(block.first_position, position);
    block.last_position = std::max<std::int64_t>(block.last_position, position);
  }
  Products::finish_values(buffers, block.count);
  return block;
}

// Starts the reads of the block that begins at key `next`, while other work goes on.
void prefetch_keys(const Tile& tile, std::size_t next) {
  const std::size_t keys = tile.key_slot.size();
  const std::int64_t row_bytes = tile.head_dim * dtype_bytes(tile.dtype);
  for (const std::size_t end = std::min(next + kKeyBlock, keys); next < end; ++next) {
    const std::int64_t slot = tile.key_slot[tile.keys_backwards ? keys - 1 - next : next];
    const std::int64_t first = slot * tile.kv_stride * dtype_bytes(tile.dtype);
    for (std::int64_t byte = first; byte < first + row_bytes; byte += std::int64_t{kLineBytes}) {
      __builtin_prefetch(static_cast<const char*>(tile.k) + byte, 0, 2);
      __builtin_prefetch(static_cast<const char*>(tile.v) + byte, 0, 2);
    }
  }
}

template <std::size_t kVectors>
void mask_scores(const TileBuffers& buffers, const std::int32_t* query_position, std::size_t keys,
                 float* all_scores) {
  const Ints ints;
  const Vector masked = hn::Set(kFloats, kMinusInfinity);
  for (std::size_t key = 0; key < keys; ++key) {
    const auto position = hn::Set(ints, buffers.key_position[key]);
    for (std::size_t v = 0; v < kVectors; ++v) {
      float* scores = all_scores + (key * kVectors + v) * kLanes;
      const auto later = hn::Gt(position, hn::Load(ints, query_position + v * kLanes));
      hn::Store(hn::IfThenElse(hn::RebindMask(kFloats, later), masked, hn::Load(kFloats, scores)), kFloats,
                scores);
    }
  }
}

template <class Products>
const float* query_words(const Panel& panel, const TileBuffers& buffers) {
  return buffers.q + panel.begin * Products::words(buffers.width);
}

// Largest score of each lane, by two chains of comparisons a vector.
template <std::size_t kVectors>
HWY_INLINE void find_maxima(const float* HWY_RESTRICT scores, std::size_t keys, Vector* HWY_RESTRICT top) {
  constexpr std::size_t kWidth = kVectors * kLanes;
  Vector even[kVectors], odd[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v) even[v] = odd[v] = hn::Set(kFloats, kMinusInfinity);
  std::size_t key = 0;
  for (; key + 2 <= keys; key += 2)
    for (std::size_t v = 0; v < kVectors; ++v) {
      even[v] = hn::Max(even[v], hn::Load(kFloats, scores + key * kWidth + v * kLanes));
      odd[v] = hn::Max(odd[v], hn::Load(kFloats, scores + (key + 1) * kWidth + v * kLanes));
    }
  for (std::size_t v = 0; v < kVectors; ++v) {
    if (key < keys) even[v] = hn::Max(even[v], hn::Load(kFloats, scores + key * kWidth + v * kLanes));
    top[v] = hn::Max(even[v], odd[v]);
  }
}

// Scores become probabilities against the raised maximum; `factor` is left for the sums made before.
// `alongside(key)` is done beside the arithmetic of kKeysAhead keys from `key` on.
template <class Products, std::size_t kVectors, class Alongside>
void soften_scores(float* HWY_RESTRICT scores, std::size_t keys, float scale_log2, float* HWY_RESTRICT max,
                   float* HWY_RESTRICT sum, float* HWY_RESTRICT factor, const Alongside& alongside) {
  constexpr std::size_t kWidth = kVectors * kLanes;
  const Vector scale = hn::Set(kFloats, scale_log2);
  const Vector one = hn::Set(kFloats, 1.0f);  // the scores' units are log2 already
  Vector top[kVectors], total[kVectors], shift[kVectors];
  find_maxima<kVectors>(scores, keys, top);
  for (std::size_t v = 0; v < kVectors; ++v) {
    SoftmaxState state{hn::Load(kFloats, max + v * kLanes), hn::Load(kFloats, sum + v * kLanes)};
    hn::Store(state.raise(hn::Mul(top[v], scale), one), kFloats, factor + v * kLanes);
    hn::Store(state.max, kFloats, max + v * kLanes);
    shift[v] = state.shift();
    total[v] = state.sum;
  }
  const auto probability = [&](std::size_t key, std::size_t v) HWY_ATTR {
    const Vector score = hn::Load(kFloats, scores + key * kWidth + v * kLanes);
    const Vector p = Products::exponential(hn::MulSub(score, scale, shift[v]));
    total[v] = hn::Add(total[v], p);
    return p;
  };
  if constexpr (Products::kPairs) {
    const auto store_pair = [&](std::size_t pair, std::size_t v, Vector first, Vector second) HWY_ATTR {
      hn::Store(Products::pair_of(first, second), kFloats, scores + pair * kWidth + v * kLanes);
    };
    std::size_t pair = 0;
    for (std::size_t block = 0; block < keys; block += kKeysAhead) {
      alongside(block);
      for (const std::size_t end = std::min(keys, block + kKeysAhead) / 2; pair < end; ++pair)
        for (std::size_t v = 0; v < kVectors; ++v) {
          const Vector first = probability(2 * pair, v);
          store_pair(pair, v, first, probability(2 * pair + 1, v));
        }
    }
    for (; pair < round_up(keys, 2 * kAmxWords) / 2; ++pair)
      for (std::size_t v = 0; v < kVectors; ++v)
        store_pair(pair, v, 2 * pair < keys ? probability(2 * pair, v) : hn::Zero(kFloats),
                   hn::Zero(kFloats));
  } else {
    for (std::size_t key = 0; key < keys; ++key)
      for (std::size_t v = 0; v < kVectors; ++v)
        hn::Store(probability(key, v), kFloats, scores + key * kWidth + v * kLanes);
  }
  for (std::size_t v = 0; v < kVectors; ++v) hn::Store(total[v], kFloats, sum + v * kLanes);
}

// Attention of a panel's queries to a block of keys. With Products::kAhead the scores are there already.
template <std::size_t kVectors, class Products, class Alongside>
void attend(Products& products, const Tile& tile, const Panel& panel, const KeyBlock& block,
            const TileBuffers& buffers, float* scores, const Alongside& alongside) {
  const std::int64_t first_query = buffers.query_position[panel.begin];
  const auto head_dim = static_cast<std::size_t>(tile.head_dim);
  if constexpr (!Products::kAhead)
    products.template scores<kVectors>(buffers, query_words<Products>(panel, buffers), head_dim, block.count);
  if (tile.mask == Mask::causal && block.last_position > first_query)
    mask_scores<kVectors>(buffers, buffers.query_position + panel.begin, block.count, scores);
  const auto scale_log2 =
      static_cast<float>(std::numbers::log2e / std::sqrt(static_cast<double>(tile.head_dim)));
  float* factor = buffers.factor + panel.begin;
  soften_scores<Products, kVectors>(scores, block.count, scale_log2, buffers.max + panel.begin,
                                    buffers.sum + panel.begin, factor, alongside);
  products.template values<kVectors>(buffers, scores, head_dim, block.count, factor,
                                     buffers.o + panel.begin * buffers.width);
}

template <class Products, class Alongside>
void attend_panel(Products& products, const Tile& tile, const Panel& panel, const KeyBlock& block,
                  const TileBuffers& buffers, float* scores, const Alongside& alongside) {
  static_assert(Products::kWidest == 2 || Products::kWidest == 3);
  if (panel.vectors == 1) return attend<1>(products, tile, panel, block, buffers, scores, alongside);
  if (panel.vectors == 2) return attend<2>(products, tile, panel, block, buffers, scores, alongside);
  if constexpr (Products::kWidest == 3) attend<3>(products, tile, panel, block, buffers, scores, alongside);
}

// The first query of the first panel that sees a key of the block: later queries see what earlier ones see.
template <class Products>
std::size_t first_seeing(const Tile& tile, const KeyBlock& block, const TileBuffers& buffers) {
  const auto queries = static_cast<std::size_t>(tile.queries.count);
  std::size_t begin = 0;
  while (tile.mask == Mask::causal && begin < queries) {
    const Panel panel = panel_at(begin, queries, Products::kWidest);
    if (block.first_position <= buffers.query_position[begin + panel.count - 1]) break;
    begin += panel.size();
  }
  return begin;
}

// Attention of all the tile's queries to a block of keys.
template <class Products>
void attend_block(Products& products, const Tile& tile, const KeyBlock& block, const TileBuffers& buffers) {
  const auto queries = static_cast<std::size_t>(tile.queries.count);
  float* scores = buffers.scores;
  float* ahead = buffers.scores_ahead;
  const auto score_keys = [&](std::size_t begin, std::size_t key, float* to) {
    if constexpr (Products::kAhead) {
      if (begin >= queries) return;
      const Panel panel = panel_at(begin, queries, Products::kWidest);
      const float* q = query_words<Products>(panel, buffers);
      if (panel.vectors == 1)
        products.template scores_of_keys<1>(buffers, q, key, to);
      else
        products.template scores_of_keys<2>(buffers, q, key, to);
    }
  };
  std::size_t begin = first_seeing<Products>(tile, block, buffers);
  for (std::size_t key = 0; key < block.count; key += kKeysAhead) score_keys(begin, key, scores);
  while (begin < queries) {
    const Panel panel = panel_at(begin, queries, Products::kWidest);
    begin += panel.size();
    attend_panel(products, tile, panel, block, buffers, scores,
                 [&](std::size_t key) { score_keys(begin, key, ahead); });
    if constexpr (Products::kAhead) std::swap(scores, ahead);
  }
}

// Factors and LSE of a panel, merged with what earlier branches left in memory.
void finish_states(const Panel& panel, const TileBuffers& buffers) {
  const Vector log2_e = hn::Set(kFloats, std::numbers::log2e_v<float>);
  const Vector ln_2 = hn::Set(kFloats, std::numbers::ln2_v<float>);
  const Vector ln_e = hn::Set(kFloats, 1.0f);
  for (std::size_t i = panel.begin; i < panel.begin + panel.size(); i += kLanes) {
    const SoftmaxState branch{hn::Load(kFloats, buffers.max + i), hn::Load(kFloats, buffers.sum + i)};
    SoftmaxState row = averaged(hn::Load(kFloats, buffers.lse + i));
    const SoftmaxState::Factors factors = row.merge(averaged(branch.lse(ln_2)), log2_e);
    const Vector average = row.normalize();
    hn::Store(hn::Mul(factors.own, average), kFloats, buffers.own + i);
    hn::Store(hn::Mul(hn::Mul(factors.other, average), branch.normalize()), kFloats, buffers.factor + i);
    hn::Store(row.lse(ln_e), kFloats, buffers.lse + i);
  }
}

void write_row(const Tile& tile, const float* row, float factor, float own, std::int64_t position) {
  const auto head_dim = static_cast<std::size_t>(tile.head_dim);
  if (tile.o_dtype == Dtype::bf16)
    return store_row(row, factor, head_dim, static_cast<std::uint16_t*>(tile.o) + position * tile.q_stride);
  float* to = static_cast<float*>(tile.o) + position * tile.q_stride;
  if (tile.combine == Combine::store)
    store_row(row, factor, head_dim, to);
  else
    merge_row(row, factor, own, head_dim, to);
}

void finish_panel(const Tile& tile, const Panel& panel, const TileBuffers& buffers) {
  const std::int32_t* position = buffers.query_position + panel.begin;
  float* lse = buffers.lse + panel.begin;
  std::fill_n(lse, panel.size(), kMinusInfinity);
  if (tile.combine == Combine::merge)
    for (std::size_t i = 0; i < panel.count; ++i) lse[i] = tile.lse[position[i] * tile.lse_stride];
  finish_states(panel, buffers);
  transpose(buffers.o + panel.begin * buffers.width, buffers.width, panel.size(), panel.size(), buffers.rows,
            buffers.width);
  const std::int64_t element = dtype_bytes(tile.o_dtype);
  for (std::size_t i = 0; i < panel.count; ++i) {
    const std::size_t ahead = panel.begin + i + kRowsAhead;
    if (ahead < static_cast<std::size_t>(tile.queries.count))
      prefetch_row<1>(tile.o, buffers.query_position[ahead] * tile.q_stride * element,
                      tile.head_dim * element);
    write_row(tile, buffers.rows + i * buffers.width, buffers.factor[panel.begin + i],
              buffers.own[panel.begin + i], position[i]);
    tile.lse[position[i] * tile.lse_stride] = lse[i];
  }
}

template <class Products>
void run_tile_with(const Tile& tile, float* workspace) {
  static_assert(kTileVectors * kLanes <= kMaxPanel && kLanes <= kMaxLanes && kKeyBlock % kTileRows == 0);
  static_assert(kKeyBlock % (2 * kAmxRows) == 0 && kWidthStep % (2 * kAmxRows) == 0);
  const auto queries = static_cast<std::size_t>(tile.queries.count);
  const TileBuffers buffers(workspace, static_cast<std::size_t>(tile.head_dim), queries);
  constexpr std::size_t kPanel = Products::kWidest * kLanes;
  const auto panel = [&](std::size_t i) { return panel_at(i, queries, Products::kWidest); };
  Products products;
  prefetch_keys(tile, 0);
  for (std::size_t i = 0; i < queries; i += kPanel) gather_queries<Products>(tile, panel(i), buffers);
  for (std::size_t next = 0; next < tile.key_slot.size();) {
    const KeyBlock block = gather_keys<Products>(tile, buffers, next);
    if (block.count == 0) break;
    prefetch_keys(tile, next);
    attend_block(products, tile, block, buffers);
  }
  for (std::size_t i = 0; i < queries; i += kPanel) finish_panel(tile, panel(i), buffers);
}

void run_tile_here(const Tile& tile, float* workspace) {
#if HWY_ARCH_X86_64 && HWY_TARGET <= HWY_AVX3
  if (tile.dtype == Dtype::bf16 && tile.bf16_products == Bf16Products::avx512_bf16)
    return run_tile_with<VectorPairs>(tile, workspace);
  if (tile.dtype == Dtype::bf16 && tile.bf16_products == Bf16Products::amx_bf16)
    return run_tile_with<TilePairs>(tile, workspace);
#endif
  run_tile_with<Singles>(tile, workspace);
}

// `memory` and `bytes` are multiples of a cache line. Whoever reads it in another thread waits for that
// thread.
void stream_zeros_here(std::byte* memory, std::size_t bytes) {
  auto* floats = reinterpret_cast<float*>(memory);
  for (std::size_t i = 0; i < bytes / sizeof(float); i += kLanes)
    hn::Stream(hn::Zero(kFloats), kFloats, floats + i);
}

std::int64_t target_here() {
  return HWY_TARGET;
}

void round_to_bf16_here(const float* from, std::uint16_t* to, std::int64_t count) {
  store_row(from, 1.0f, static_cast<std::size_t>(count), to);
}

}  // namespace HWY_NAMESPACE
}  // namespace hilbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hilbench {

HWY_EXPORT(run_tile_here);
HWY_EXPORT(round_to_bf16_here);
HWY_EXPORT(stream_zeros_here);
HWY_EXPORT(target_here);

std::int64_t tile_workspace_floats(std::int64_t head_dim, std::int64_t tile_rows) {
  const TileBuffers buffers(nullptr, static_cast<std::size_t>(head_dim), static_cast<std::size_t>(tile_rows));
  return buffers.end - buffers.rows;
}

void run_tile(const Tile& tile, float* workspace) {
  HWY_DYNAMIC_DISPATCH(run_tile_here)(tile, workspace);
}

std::string_view vector_instructions() {
  return hwy::TargetName(HWY_DYNAMIC_DISPATCH(target_here)());
}

bool multiplies_pairs() {
  return HWY_ARCH_X86_64 && HWY_DYNAMIC_DISPATCH(target_here)() <= HWY_AVX3;
}

void clear(std::byte* memory, std::size_t bytes, Clearing clearing) {
  const bool whole_lines = (reinterpret_cast<std::uintptr_t>(memory) | bytes) % kLineBytes == 0;
  if (clearing == Clearing::past_caches && whole_lines)
    HWY_DYNAMIC_DISPATCH(stream_zeros_here)(memory, bytes);
  else
    std::memset(memory, 0, bytes);
}

void finish_clearing(Clearing clearing) {
  if (clearing == Clearing::past_caches) hwy::FlushStream();
}

void round_to_bf16(const float* from, std::uint16_t* to, std::int64_t count) {
  HWY_DYNAMIC_DISPATCH(round_to_bf16_here)(from, to, count);
}

}  // namespace hilbench
#endif
