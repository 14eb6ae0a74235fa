// How the backward pass of a tile stores its operands, and what multiplies them.
#if defined(HILBENCH_KERNELS_CPU_GRADIENT_PRODUCTS_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef HILBENCH_KERNELS_CPU_GRADIENT_PRODUCTS_INL_HPP_
#undef HILBENCH_KERNELS_CPU_GRADIENT_PRODUCTS_INL_HPP_
#else
#define HILBENCH_KERNELS_CPU_GRADIENT_PRODUCTS_INL_HPP_
#endif

#include <algorithm>

#include "kernels/cpu/gradient_buffers.hpp"
#include "kernels/cpu/gradient_tile.hpp"
#include "kernels/cpu/tile_rows-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace hilbench {
namespace HWY_NAMESPACE {

// The elements of a row, in parts of at most `widest` vectors that are multiplied as lanes: as few as
// possible, and equally wide.
class Parts {
 public:
  Parts(std::size_t width, std::size_t widest) : vectors_(width / kLanes), widest_(widest) {}
  std::size_t count() const { return (vectors_ + widest_ - 1) / widest_; }
  std::size_t begin(std::size_t part) const { return part * vectors_ / count(); }  // in vectors
  std::size_t vectors(std::size_t part) const { return begin(part + 1) - begin(part); }

 private:
  std::size_t vectors_, widest_;
};

// Copies rows of `width` words to the parts of a panel or block of `rows` rows.
inline void to_parts(const float* from, std::size_t rows, std::size_t width, std::size_t widest, float* to) {
  const Parts parts(width, widest);
  for (std::size_t part = 0; part < parts.count(); ++part) {
    const std::size_t floats = parts.vectors(part) * kLanes, begin = parts.begin(part) * kLanes;
    for (std::size_t row = 0; row < rows; ++row, to += floats)
      std::copy_n(from + row * width + begin, floats, to);
  }
}

// Q or dO of a tile: its rows, and where a panel of them goes.
struct QueryRows {
  const void* base;
  float* transposed;
  float* parts;  // null: not wanted
};

// One struct for each way to store and multiply operands; GradientBuffers says where they are.
//   kWidest          most vectors of a panel and of a part
//   kWholePanels     true if every panel has kWidest vectors; queries after the last are 0
//   words(count)     words of `count` elements that are added up
//   gather_queries   copies rows of a panel, with rows of zeros after the last query
//   gather_key       copies a row of K and V
//   finish_keys      completes the block
//   round            P and dS of a panel, as they are multiplied
//   scores           Q K^T or dO V^T of a panel with a block
//   add_to_keys      sums[key] += sum over the panel's queries of factors[key][query] * rows[query]
//   add_to_queries   dQ[query] += sum over the block's keys of dS[key][query] * K[key]
struct SingleGradients {
  static constexpr std::size_t kWidest = kTileVectors;
  static constexpr bool kWholePanels = false;
  static std::size_t words(std::size_t count) { return count; }

  static void gather_queries(const Tile& tile, const Panel& panel, const QueryRows& of,
                             const GradientBuffers& buffers) {
    const std::size_t width = buffers.width, at = panel.begin * width;
    for (std::size_t i = 0; i < panel.size(); ++i)
      if (i < panel.count)
        widen_from(tile, of.base, slot_of_query(tile, panel.begin + i), tile.q_stride, width,
                   buffers.rows + i * width);
      else
        std::fill_n(buffers.rows + i * width, width, 0.0f);
    transpose(buffers.rows, panel.size(), width, width, of.transposed + at, panel.size());
    if (of.parts != nullptr) to_parts(buffers.rows, panel.size(), width, kWidest, of.parts + at);
  }
  static void gather_key(const GradientTile& tile, std::int64_t slot, std::size_t key,
                         const GradientBuffers& buffers) {
    const Tile& forward = tile.forward;
    const std::size_t width = buffers.width;
    float* const k = buffers.k + key * width;
    widen_from(forward, forward.k, slot, forward.kv_stride, width, k);
    widen_from(forward, forward.v, slot, forward.kv_stride, width, buffers.v + key * width);
    if (tile.d_q != nullptr)
      widen_row_to_slabs(k, width, width, kGradientSlabKeys * kTileRows, buffers.k_slabs + key * kTileRows);
  }
  static void finish_keys(const GradientTile&, std::size_t, const GradientBuffers&) {}
  template <std::size_t kVectors>
  static void round(const GradientTile&, std::size_t, const GradientBuffers&) {}
  static const float* d_s_rows(const GradientBuffers& buffers) { return buffers.d_s; }

  template <std::size_t kVectors>
  void scores(const float* keys, const float* queries, std::size_t head_dim, std::size_t count,
              const GradientBuffers& buffers, float* to) {
    for (std::size_t key = 0; key < count; key += kTileRows)
      multiply_tile<kVectors>(keys + key * buffers.width, buffers.width, 1, queries, head_dim, nullptr,
                              to + key * kVectors * kLanes);
  }
  template <std::size_t kVectors>
  void add_to_keys(const float* factors, std::size_t queries, std::size_t count, const float* rows,
                   const GradientBuffers& buffers, float* sums) {
    for (std::size_t key = 0; key < count; key += kTileRows)
      multiply_tile<kVectors>(factors + key * queries, queries, 1, rows, queries, buffers.ones,
                              sums + key * kVectors * kLanes);
  }
  template <std::size_t kVectors>
  void add_to_queries(std::size_t head_dim, std::size_t count, const GradientBuffers& buffers, float* sums) {
    for (std::size_t d = 0; d < head_dim; d += kTileRows)
      multiply_tile<kVectors>(buffers.k_slabs + d * kGradientSlabKeys, 1, kTileRows, buffers.d_s, count,
                              buffers.ones, sums + d * kVectors * kLanes);
  }
};

#if HWY_ARCH_X86_64 && HWY_TARGET <= HWY_AVX3
// Rows of bf16: a word is two elements that are neighbours in what is added up, so a row that is added up in
// two ways is stored twice. P and dS are rounded to bf16.
struct PairGradients {
  static std::size_t words(std::size_t count) { return (count + 1) / 2; }

  // Rows [0, pairs) of `to`, `width` words each, become the rows that row(i) points to, two in a word; where
  // it is null, zeros.
  template <class Row>
  static void join_rows(std::size_t pairs, std::size_t count, std::size_t width, const Row& row, float* to) {
    for (std::size_t pair = 0; pair < pairs; ++pair, to += width) {
      const std::uint16_t *const lower = row(2 * pair), *const upper = row(2 * pair + 1);
      if (lower == nullptr)
        std::fill_n(to, width, 0.0f);
      else
        join_row(lower, count, width, Half::lower, to);
      if (upper != nullptr) join_row(upper, count, width, Half::upper, to);
    }
  }

  static void gather_queries(const Tile& tile, const Panel& panel, const QueryRows& of, std::size_t widest,
                             const GradientBuffers& buffers) {
    const auto head_dim = static_cast<std::size_t>(tile.head_dim);
    const std::size_t row_words = words(buffers.width), at = panel.begin * row_words;
    const auto row = [&](std::size_t i) -> const std::uint16_t* {
      if (i >= panel.count) return nullptr;
      return row_of<std::uint16_t>(of.base, slot_of_query(tile, panel.begin + i), tile.q_stride);
    };
    for (std::size_t i = 0; i < panel.size(); ++i)
      if (const std::uint16_t* from = row(i))
        copy_row(from, head_dim, buffers.width, buffers.rows + i * row_words);
      else
        std::fill_n(buffers.rows + i * row_words, row_words, 0.0f);
    transpose(buffers.rows, panel.size(), row_words, row_words, of.transposed + at, panel.size());
    if (of.parts == nullptr) return;
    join_rows(words(panel.size()), head_dim, buffers.width, row, buffers.rows);
    to_parts(buffers.rows, words(panel.size()), buffers.width, widest, of.parts + at);
  }
  static void gather_key(const GradientTile& tile, std::int64_t slot, std::size_t key,
                         const GradientBuffers& buffers) {
    const Tile& forward = tile.forward;
    const auto head_dim = static_cast<std::size_t>(forward.head_dim);
    const std::size_t at = key * words(buffers.width);
    const auto* const k = row_of<std::uint16_t>(forward.k, slot, forward.kv_stride);
    copy_row(k, head_dim, buffers.width, buffers.k + at);
    copy_row(row_of<std::uint16_t>(forward.v, slot, forward.kv_stride), head_dim, buffers.width,
             buffers.v + at);
    if (tile.d_q != nullptr)
      join_row(k, head_dim, buffers.width, key % 2 == 0 ? Half::lower : Half::upper,
               buffers.rows + key / 2 * buffers.width);
  }
  // Pairs after the last key are 0, up to a full tile register.
  static void finish_keys(const GradientTile& tile, std::size_t count, const GradientBuffers& buffers) {
    if (tile.d_q == nullptr) return;
    const std::size_t pairs = words(count), whole = round_up(pairs, kAmxWords);
    std::fill(buffers.rows + pairs * buffers.width, buffers.rows + whole * buffers.width, 0.0f);
    transpose(buffers.rows, whole, buffers.width, buffers.width, buffers.k_slabs, words(kGradientKeys));
  }
  template <std::size_t kVectors>
  static void round(const GradientTile& tile, std::size_t count, const GradientBuffers& buffers) {
    constexpr std::size_t kPanel = kVectors * kLanes;
    if (tile.d_k != nullptr) {
      round_rows(buffers.p, count * kPanel, buffers.p);
      round_rows(buffers.d_s, count * kPanel, buffers.d_s_rows);
    }
    if (tile.d_q == nullptr) return;
    const std::size_t pairs = words(count);
    for (std::size_t pair = 0; pair < pairs; ++pair)
      for (std::size_t i = 0; i < kPanel; i += kLanes) {
        const float* const from = buffers.d_s + 2 * pair * kPanel + i;
        const Vector upper = 2 * pair + 1 < count ? hn::Load(kFloats, from + kPanel) : hn::Zero(kFloats);
        hn::Store(round_to_pair(hn::Load(kFloats, from), upper), kFloats, buffers.d_s + pair * kPanel + i);
      }
    std::fill(buffers.d_s + pairs * kPanel, buffers.d_s + round_up(pairs, kAmxWords) * kPanel, 0.0f);
  }
  static const float* d_s_rows(const GradientBuffers& buffers) { return buffers.d_s_rows; }

 private:
  // Neighbouring values become a word; `to` may be `from`.
  static void round_rows(const float* from, std::size_t count, float* to) {
    auto* const halves = reinterpret_cast<std::uint16_t*>(to);
    for (std::size_t i = 0; i < count; i += kLanes) store_floats(hn::Load(kFloats, from + i), halves + i);
  }
};

struct VectorPairGradients : PairGradients {
  static constexpr std::size_t kWidest = kTileVectors;
  static constexpr bool kWholePanels = false;

  static void gather_queries(const Tile& tile, const Panel& panel, const QueryRows& of,
                             const GradientBuffers& buffers) {
    PairGradients::gather_queries(tile, panel, of, kWidest, buffers);
  }
  template <std::size_t kVectors>
  void scores(const float* keys, const float* queries, std::size_t head_dim, std::size_t count,
              const GradientBuffers& buffers, float* to) {
    multiply_pairs<kVectors>(keys, words(buffers.width), queries, round_up(count, kTileRows), words(head_dim),
                             nullptr, to);
  }
  template <std::size_t kVectors>
  void add_to_keys(const float* factors, std::size_t queries, std::size_t count, const float* rows,
                   const GradientBuffers& buffers, float* sums) {
    multiply_pairs<kVectors>(factors, words(queries), rows, round_up(count, kTileRows), words(queries),
                             buffers.ones, sums);
  }
  template <std::size_t kVectors>
  void add_to_queries(std::size_t head_dim, std::size_t count, const GradientBuffers& buffers, float* sums) {
    multiply_pairs<kVectors>(buffers.k_slabs, words(kGradientKeys), buffers.d_s,
                             round_up(head_dim, kTileRows), words(count), buffers.ones, sums);
  }
};

template <class Tiles>
struct TilePairGradients : PairGradients {
  static constexpr std::size_t kWidest = 2;
  static constexpr bool kWholePanels = true;
  static_assert(kWidest * kMaxLanes == kAmxColumns);
  Tiles tiles;

  static void gather_queries(const Tile& tile, const Panel& panel, const QueryRows& of,
                             const GradientBuffers& buffers) {
    PairGradients::gather_queries(tile, panel, of, kWidest, buffers);
  }
  template <std::size_t kVectors>
  void scores(const float* keys, const float* queries, std::size_t, std::size_t count,
              const GradientBuffers& buffers, float* to) {
    multiply<kVectors>(keys, words(buffers.width), queries, round_up(count, kAmxBlock), words(buffers.width),
                       Start::from_zero, to);
  }
  template <std::size_t kVectors>
  void add_to_keys(const float* factors, std::size_t queries, std::size_t count, const float* rows,
                   const GradientBuffers&, float* sums) {
    multiply<kVectors>(factors, words(queries), rows, round_up(count, kAmxBlock), words(queries),
                       Start::from_result, sums);
  }
  template <std::size_t kVectors>
  void add_to_queries(std::size_t, std::size_t count, const GradientBuffers& buffers, float* sums) {
    multiply<kVectors>(buffers.k_slabs, words(kGradientKeys), buffers.d_s, buffers.width,
                       round_up(words(count), kAmxWords), Start::from_result, sums);
  }

 private:
  template <std::size_t kVectors>
  void multiply(const float* a, std::size_t a_stride, const float* b, std::size_t rows, std::size_t count,
                Start start, float* c) {
    static_assert(kVectors == kWidest);
    multiply_amx(tiles, a, a_stride, b, rows, count, start, c);
  }
};
#endif

}  // namespace HWY_NAMESPACE
}  // namespace hilbench
HWY_AFTER_NAMESPACE();

#endif
