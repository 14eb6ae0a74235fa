// A tile of dilated attention: one block of keys after another, and for each block the panels of queries.
#if defined(HILBENCH_KERNELS_CPU_TILE_ATTENTION_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef HILBENCH_KERNELS_CPU_TILE_ATTENTION_INL_HPP_
#undef HILBENCH_KERNELS_CPU_TILE_ATTENTION_INL_HPP_
#else
#define HILBENCH_KERNELS_CPU_TILE_ATTENTION_INL_HPP_
#endif

#include <cmath>
#include <numbers>
#include <utility>

#include "kernels/cpu/tile_rows-inl.hpp"
#include "kernels/cpu/tile_softmax-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace hilbench {
namespace HWY_NAMESPACE {

template <class Products>
const float* query_words(const Panel& panel, const TileBuffers& buffers) {
  return buffers.q + panel.begin * Products::words(buffers.width);
}

inline float scale_of_scores(const Tile& tile) {
  return static_cast<float>(std::numbers::log2e / std::sqrt(static_cast<double>(tile.head_dim)));
}

// Turns the scores of a panel with a block into probabilities; see soften_scores.
template <std::size_t kVectors, class Products, class Alongside>
void soften_panel(const Tile& tile, const Panel& panel, const KeyBlock& block, const TileBuffers& buffers,
                  float* scores, const Alongside& alongside) {
  const std::int64_t first_query = buffers.query_position[panel.begin];
  if (tile.mask == Mask::causal && block.last_position > first_query)
    mask_scores<kVectors>(buffers, buffers.query_position + panel.begin, block.count, scores);
  if (!tile.masks.of_block.empty()) mask_by_bits<kVectors>(tile, panel.begin, block, scores);
  soften_scores<Products, kVectors>(scores, block.count, scale_of_scores(tile), buffers.max + panel.begin,
                                    buffers.sum + panel.begin, buffers.factor + panel.begin, alongside);
}

// Attention of a panel's queries to a block of keys. With Products::kAhead the scores exist already, and
// `alongside` is called during the softmax. `kept`: null without dropout.
template <std::size_t kVectors, class Products, class Alongside>
void attend(Products& products, const Tile& tile, const Panel& panel, const KeyBlock& block,
            const TileBuffers& buffers, KeptPairs* kept, float* scores, const Alongside& alongside) {
  const auto head_dim = static_cast<std::size_t>(tile.head_dim);
  if constexpr (!Products::kAhead)
    products.template scores<kVectors>(buffers, query_words<Products>(panel, buffers), head_dim, block.count);
  soften_panel<kVectors, Products>(tile, panel, block, buffers, scores, alongside);
  if (kept != nullptr) {
    kept->draw(tile.dropout, panel);
    if constexpr (Products::kPairs)
      kept->zero_dropped_halves<kVectors>(scores, block.count);
    else
      kept->zero_dropped<kVectors>(scores, block.count);
  }
  products.template values<kVectors>(buffers, scores, head_dim, block.count, buffers.factor + panel.begin,
                                     buffers.o + panel.begin * buffers.width);
}

// The first query of the first panel that sees a key of the block. Later queries see all that
// earlier ones see.
template <class Products>
std::size_t first_seeing(const Tile& tile, const KeyBlock& block, const TileBuffers& buffers) {
  const auto queries = static_cast<std::size_t>(tile.queries.count);
  std::size_t begin = 0;
  while (tile.mask == Mask::causal && begin < queries) {
    const Panel panel = panel_at<Products>(begin, queries);
    if (block.first_position <= buffers.query_position[begin + panel.count - 1]) break;
    begin += panel.size();
  }
  return begin;
}

template <class Products>
void attend_panels(Products& products, const Tile& tile, const KeyBlock& block, const TileBuffers& buffers,
                   KeptPairs* kept, std::size_t begin) {
  static_assert(Products::kWidest == 3);
  const auto queries = static_cast<std::size_t>(tile.queries.count);
  const auto nothing = [](std::size_t) {};
  while (begin < queries) {
    const Panel panel = panel_at<Products>(begin, queries);
    if (panel.vectors == 1) attend<1>(products, tile, panel, block, buffers, kept, buffers.scores, nothing);
    if (panel.vectors == 2) attend<2>(products, tile, panel, block, buffers, kept, buffers.scores, nothing);
    if (panel.vectors == 3) attend<3>(products, tile, panel, block, buffers, kept, buffers.scores, nothing);
    begin += panel.size();
  }
}

// The same, but the scores of each panel are computed during the softmax of the panel before.
template <class Products>
void attend_panels_ahead(Products& products, const Tile& tile, const KeyBlock& block,
                         const TileBuffers& buffers, KeptPairs* kept, std::size_t begin) {
  const auto queries = static_cast<std::size_t>(tile.queries.count);
  float* scores = buffers.scores;
  float* ahead = buffers.scores_ahead;
  const auto score_keys = [&](std::size_t first, std::size_t key, float* to) {
    if (first >= queries) return;
    const Panel panel = panel_at<Products>(first, queries);
    products.scores_of_keys(buffers, query_words<Products>(panel, buffers), key, to);
  };
  for (std::size_t key = 0; key < block.count; key += kAmxBlock) score_keys(begin, key, scores);
  while (begin < queries) {
    const Panel panel = panel_at<Products>(begin, queries);
    begin += panel.size();
    attend<Products::kWidest>(products, tile, panel, block, buffers, kept, scores,
                              [&](std::size_t key) { score_keys(begin, key, ahead); });
    std::swap(scores, ahead);
  }
}

// Attention of all the tile's queries to a block of keys.
template <class Products>
void attend_block(Products& products, const Tile& tile, const KeyBlock& block, const TileBuffers& buffers,
                  KeptPairs* kept) {
  const std::size_t begin = first_seeing<Products>(tile, block, buffers);
  if constexpr (Products::kAhead)
    attend_panels_ahead(products, tile, block, buffers, kept, begin);
  else
    attend_panels(products, tile, block, buffers, kept, begin);
}

template <class Products>
void run_tile_with(const Tile& tile, float* workspace) {
  static_assert(kTileVectors * kLanes <= kMaxPanel && kLanes <= kMaxLanes && kKeyBlock % kTileRows == 0);
  static_assert(kKeyBlock % kAmxBlock == 0 && kWidthStep % kAmxBlock == 0);
  const auto queries = static_cast<std::size_t>(tile.queries.count);
  const TileBuffers buffers(workspace, static_cast<std::size_t>(tile.head_dim), queries);
  constexpr std::size_t kPanel = Products::kWidest * kLanes;
  const auto panel = [&](std::size_t i) { return panel_at<Products>(i, queries); };
  Products products;
  KeptPairs of_block;
  KeptPairs* const kept = drops(tile.dropout.dropout) ? &of_block : nullptr;
  for (std::size_t i = 0; i < queries; i += kPanel) gather_queries<Products>(tile, panel(i), buffers);
  for (std::size_t next = 0; next < tile.key_slot.size();) {
    const KeyBlock block = gather_keys<Products>(tile, buffers, next, kept);
    if (block.count == 0) break;
    attend_block(products, tile, block, buffers, kept);
  }
  for (std::size_t i = 0; i < queries; i += kPanel) finish_panel(tile, panel(i), buffers);
}

}  // namespace HWY_NAMESPACE
}  // namespace hilbench
HWY_AFTER_NAMESPACE();

#endif
