// How the operands of a tile are stored in its buffers, and what multiplies them.
#if defined(HILBENCH_KERNELS_CPU_TILE_PRODUCTS_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef HILBENCH_KERNELS_CPU_TILE_PRODUCTS_INL_HPP_
#undef HILBENCH_KERNELS_CPU_TILE_PRODUCTS_INL_HPP_
#else
#define HILBENCH_KERNELS_CPU_TILE_PRODUCTS_INL_HPP_
#endif

#include "kernels/cpu/amx_products.hpp"
#include "kernels/cpu/dilated_tile.hpp"
#include "kernels/cpu/matrix_tile-inl.hpp"
#include "kernels/cpu/pair_products-inl.hpp"
#include "kernels/cpu/rows-inl.hpp"
#include "kernels/cpu/softmax_state-inl.hpp"
#include "kernels/cpu/tile_buffers.hpp"

HWY_BEFORE_NAMESPACE();
namespace hilbench {
namespace HWY_NAMESPACE {

// Queries [begin, begin + count) of the tile, in `vectors` vectors.
struct Panel {
  std::size_t begin, count, vectors;
  std::size_t size() const { return vectors * kLanes; }
};

// Keys gathered into k and v, and the range of their positions.
struct KeyBlock {
  std::size_t count = 0;
  std::size_t first =
      0;  // visit of key 0; those of the other keys follow, unless a causal mask left some out
  std::int64_t first_position = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_position = -1;
};

template <class Element>
const Element* row_of(const void* base, std::int64_t slot, std::int64_t stride) {
  return static_cast<const Element*>(base) + slot * stride;
}

inline void widen_from(const Tile& tile, const void* base, std::int64_t slot, std::int64_t stride,
                       std::size_t width, float* to) {
  const auto head_dim = static_cast<std::size_t>(tile.head_dim);
  if (tile.dtype == Dtype::fp32)
    widen_row(row_of<float>(base, slot, stride), head_dim, width, to);
  else
    widen_row(row_of<std::uint16_t>(base, slot, stride), head_dim, width, to);
}

inline void widen_value(const Tile& tile, std::int64_t slot, std::size_t width, float* to) {
  const auto head_dim = static_cast<std::size_t>(tile.head_dim);
  constexpr std::size_t kSlab = kSlabKeys * kTileRows;
  if (tile.dtype == Dtype::fp32)
    widen_row_to_slabs(row_of<float>(tile.v, slot, tile.kv_stride), head_dim, width, kSlab, to);
  else
    widen_row_to_slabs(row_of<std::uint16_t>(tile.v, slot, tile.kv_stride), head_dim, width, kSlab, to);
}

// One struct for each way to store and multiply operands. The rest of the tile code is the same for all.
//   kWidest               most vectors of a panel
//   kPairs                true if a word is two bf16
//   kAhead                true if the scores of a panel are computed during the softmax of the panel before;
//                         then panels are full, and queries after the last are 0
//   kSlack                how far (log2) a score may exceed the maximum before the maximum is raised. Only
//                         then are sums and O scaled; probabilities stay below 2^kSlack
//   words(width)          words of a row of `width` elements
//   exponential           2^x with the precision of the words
//   gather_row            copies a query to a row that is transposed later, or a key to its place
//   gather_value, finish_values  copies a row of V; completes the block
//   scores, values        Q K^T of a panel with a block; P V, added to O times `factor`. With kAhead,
//                         scores_of_keys computes the rows of Q K^T for kAmxBlock keys
struct Singles {
  static constexpr std::size_t kWidest = kTileVectors;
  static constexpr bool kPairs = false;
  static constexpr bool kAhead = false;
  static constexpr float kSlack = 0;
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
// Rows of bf16 as they are in memory. The values of two neighbouring keys share words, which are transposed
// when the block is full.
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
  // Pairs after the last key are 0, up to a full tile register.
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
  static constexpr float kSlack = 0;

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

template <class Tiles>
struct TilePairs : Pairs {
  static constexpr std::size_t kWidest = 2;
  static constexpr bool kAhead = true;
  static constexpr float kSlack = 8;
  static_assert(kWidest * kMaxLanes == kAmxColumns);
  Tiles tiles;

  void scores_of_keys(const TileBuffers& buffers, const float* q, std::size_t key, float* scores) {
    const std::size_t row_words = words(buffers.width);
    multiply_amx_block(tiles, buffers.k + key * row_words, row_words, q, row_words, Start::from_zero,
                       scores + key * kAmxColumns);
  }
  template <std::size_t kVectors>
  void values(const TileBuffers& buffers, const float* p, std::size_t, std::size_t keys, const float* factor,
              float* o) {
    scale_rows<kVectors>(o, buffers.width, factor);
    multiply_amx(tiles, buffers.v, kKeyBlock / 2, p, buffers.width, round_up((keys + 1) / 2, kAmxWords),
                 Start::from_result, o);
  }
};
#endif

template <class Products>
Panel panel_at(std::size_t begin, std::size_t queries) {
  const std::size_t count = std::min(queries - begin, Products::kWidest * kLanes);
  return {begin, count, Products::kAhead ? Products::kWidest : (count + kLanes - 1) / kLanes};
}

}  // namespace HWY_NAMESPACE
}  // namespace hilbench
HWY_AFTER_NAMESPACE();

#endif
