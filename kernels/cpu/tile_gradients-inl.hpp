// The backward pass of a tile: one block of keys after another, and for each block the panels of queries.
#if defined(HILBENCH_KERNELS_CPU_TILE_GRADIENTS_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef HILBENCH_KERNELS_CPU_TILE_GRADIENTS_INL_HPP_
#undef HILBENCH_KERNELS_CPU_TILE_GRADIENTS_INL_HPP_
#else
#define HILBENCH_KERNELS_CPU_TILE_GRADIENTS_INL_HPP_
#endif

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/cpu/gradient_products-inl.hpp"
#include "kernels/cpu/tile_attention-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace hilbench {
namespace HWY_NAMESPACE {

// Calls visit(std::integral_constant<std::size_t, vectors>) for 1 to Products::kWidest vectors, or for
// kWidest if all are whole.
template <class Products, class Visit>
HWY_INLINE void with_vectors(std::size_t vectors, const Visit& visit) {
  static_assert(Products::kWidest <= 3);
  if constexpr (!Products::kWholePanels) {
    if (vectors == 1) return visit(std::integral_constant<std::size_t, 1>());
    if (vectors == 2) return visit(std::integral_constant<std::size_t, 2>());
  }
  visit(std::integral_constant<std::size_t, Products::kWidest>());
}

template <class Products>
Panel gradient_panel(std::size_t begin, std::size_t queries) {
  const std::size_t count = std::min(queries - begin, Products::kWidest * kLanes);
  return {begin, count, Products::kWholePanels ? Products::kWidest : (count + kLanes - 1) / kLanes};
}

// Q and dO of a panel, with rows of zeros after the last query.
template <class Products>
void gather_gradient_queries(const GradientTile& tile, const Panel& panel, const GradientBuffers& buffers) {
  const Tile& forward = tile.forward;
  for (std::size_t i = 0; i < panel.size(); ++i) {
    const std::size_t query = panel.begin + i;
    if (i >= panel.count) {
      buffers.query_position[query] = std::numeric_limits<std::int32_t>::max();
      buffers.lse[query] = std::numeric_limits<float>::infinity();
      buffers.delta[query] = 0;
      continue;
    }
    const std::int64_t row = row_of_query(forward, query);
    const float lse = forward.lse[row * forward.lse_stride];
    buffers.query_position[query] = static_cast<std::int32_t>(row);
    buffers.lse[query] =
        lse == kMinusInfinity ? std::numeric_limits<float>::infinity() : lse * std::numbers::log2e_v<float>;
    buffers.delta[query] = tile.delta[row * forward.lse_stride];
  }
  const bool of_keys = tile.d_k != nullptr;
  Products::gather_queries(forward, panel, {forward.q, buffers.q, of_keys ? buffers.q_rows : nullptr},
                           buffers);
  Products::gather_queries(forward, panel, {tile.d_o, buffers.d_o, of_keys ? buffers.d_o_rows : nullptr},
                           buffers);
  std::fill_n(buffers.d_q + panel.begin * buffers.width, panel.size() * buffers.width, 0.0f);
}

// Gathers the next keys from `next` on that are in the tile's slots and that some query of the tile sees.
// `kept`: null without dropout.
template <class Products>
KeyBlock gather_gradient_keys(const GradientTile& tile, const GradientBuffers& buffers, std::size_t& next,
                              KeptPairs* kept) {
  const Tile& forward = tile.forward;
  const std::int64_t last_query = forward.queries.last();
  const std::size_t keys = forward.key_slot.size();
  KeyBlock block{.first = next};
  if (kept != nullptr) kept->start_block();
  for (; next < keys && block.count < kGradientKeys; ++next) {
    const std::size_t key = key_of_visit(forward, next);
    const std::int64_t slot = forward.key_slot[key];
    if (slot < tile.keys.begin || slot >= tile.keys.end) continue;
    const std::int32_t position = forward.key_position.empty() ? 0 : forward.key_position[key];
    if (forward.mask == Mask::causal && position > last_query) continue;
    Products::gather_key(tile, slot, block.count, buffers);
    if (kept != nullptr) kept->add_key(block.count, ordinal_of_key(forward.dropout, key));
    buffers.key_number[block.count] = static_cast<std::int32_t>(key);
    buffers.key_position[block.count++] = position;
    block.first_position = std::min<std::int64_t>(block.first_position, position);
    block.last_position = std::max<std::int64_t>(block.last_position, position);
  }
  Products::finish_keys(tile, block.count, buffers);
  return block;
}

// Scores of keys that a query does not see become -infinity.
template <std::size_t kVectors>
void hide_scores(const Tile& forward, const Panel& panel, const KeyBlock& block,
                 const GradientBuffers& buffers) {
  const Ints ints;
  const Vector hidden = hn::Set(kFloats, kMinusInfinity);
  const std::int32_t* positions = buffers.query_position + panel.begin;
  const bool causal = forward.mask == Mask::causal && block.last_position > positions[0];
  for (std::size_t key = 0; causal && key < block.count; ++key)
    for (std::size_t v = 0; v < kVectors; ++v) {
      float* scores = buffers.p + (key * kVectors + v) * kLanes;
      const auto later =
          hn::Gt(hn::Set(ints, buffers.key_position[key]), hn::Load(ints, positions + v * kLanes));
      hn::Store(hn::IfThenElse(hn::RebindMask(kFloats, later), hidden, hn::Load(kFloats, scores)), kFloats,
                scores);
    }
  if (forward.masks.of_block.empty()) return;
  for (std::size_t key = 0; key < block.count; ++key) {
    const KeyMask* mask = forward.masks.of_key(static_cast<std::size_t>(buffers.key_number[key]));
    if (mask == nullptr) continue;
    for (std::size_t v = 0; v < kVectors; ++v) {
      float* scores = buffers.p + (key * kVectors + v) * kLanes;
      const auto seen = queries_of(*mask, panel.begin + v * kLanes);
      hn::Store(hn::IfThenElse(seen, hn::Load(kFloats, scores), hidden), kFloats, scores);
    }
  }
}

// P and dS of a panel with a block, from scores and dP, which dropout multiplies with `kept_scale`.
template <std::size_t kVectors>
void differentiate(const Panel& panel, std::size_t keys, float scale, float kept_scale,
                   const GradientBuffers& buffers) {
  const Vector factor = hn::Set(kFloats, scale), of_kept = hn::Set(kFloats, kept_scale);
  Vector lse[kVectors], delta[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v) {
    lse[v] = hn::Load(kFloats, buffers.lse + panel.begin + v * kLanes);
    delta[v] = hn::Load(kFloats, buffers.delta + panel.begin + v * kLanes);
  }
  for (std::size_t i = 0; i < keys * kVectors; i += kVectors)
    for (std::size_t v = 0; v < kVectors; ++v) {
      float *p = buffers.p + (i + v) * kLanes, *d_s = buffers.d_s + (i + v) * kLanes;
      const Vector probability = exp2_or_zero(hn::MulSub(hn::Load(kFloats, p), factor, lse[v]));
      hn::Store(probability, kFloats, p);
      hn::Store(hn::Mul(probability, hn::MulSub(hn::Load(kFloats, d_s), of_kept, delta[v])), kFloats, d_s);
    }
}

// Adds what a panel contributes to the rows of a block's keys, in parts.
template <class Products>
void add_to_keys(Products& products, const float* factors, const Panel& panel, std::size_t keys,
                 const float* rows, const GradientBuffers& buffers, float* sums) {
  const Parts parts(buffers.width, Products::kWidest);
  for (std::size_t part = 0; part < parts.count(); ++part)
    with_vectors<Products>(parts.vectors(part), [&](auto vectors) {
      const std::size_t begin = parts.begin(part) * kLanes;
      products.template add_to_keys<decltype(vectors)::value>(factors, panel.size(), keys,
                                                              rows + begin * Products::words(panel.size()),
                                                              buffers, sums + begin * kGradientKeys);
    });
}

template <std::size_t kVectors, class Products>
void attend_gradients(Products& products, const GradientTile& tile, const Panel& panel, const KeyBlock& block,
                      const GradientBuffers& buffers, KeptPairs* kept) {
  const auto head_dim = static_cast<std::size_t>(tile.forward.head_dim);
  const std::size_t at = panel.begin * Products::words(buffers.width);
  products.template scores<kVectors>(buffers.k, buffers.q + at, head_dim, block.count, buffers, buffers.p);
  products.template scores<kVectors>(buffers.v, buffers.d_o + at, head_dim, block.count, buffers,
                                     buffers.d_s);
  hide_scores<kVectors>(tile.forward, panel, block, buffers);
  if (kept != nullptr) {
    kept->draw(tile.forward.dropout, panel);
    kept->zero_dropped<kVectors>(buffers.d_s, block.count);
  }
  differentiate<kVectors>(panel, block.count, scale_of_scores(tile.forward),
                          tile.forward.dropout.dropout.scale, buffers);
  if (kept != nullptr) kept->zero_dropped<kVectors>(buffers.p, block.count);
  Products::template round<kVectors>(tile, block.count, buffers);
  if (tile.d_k != nullptr) {
    add_to_keys(products, buffers.p, panel, block.count, buffers.d_o_rows + at, buffers, buffers.d_v);
    add_to_keys(products, Products::d_s_rows(buffers), panel, block.count, buffers.q_rows + at, buffers,
                buffers.d_k);
  }
  if (tile.d_q != nullptr)
    products.template add_to_queries<kVectors>(head_dim, block.count, buffers,
                                               buffers.d_q + panel.begin * buffers.width);
}

// to[i] += from[i] * factor.
HWY_INLINE void add_row(const float* HWY_RESTRICT from, float factor, std::size_t count,
                        float* HWY_RESTRICT to) {
  merge_row(from, factor, 1.0f, count, to);
}

// Adds the sums of a block's keys to the rows in memory.
template <class Products>
void add_keys(const GradientTile& tile, const KeyBlock& block, const float* sums, float factor,
              const GradientBuffers& buffers, float* rows) {
  const Parts parts(buffers.width, Products::kWidest);
  const auto head_dim = static_cast<std::size_t>(tile.forward.head_dim);
  for (std::size_t key = 0; key < block.count; ++key) {
    const auto number = static_cast<std::size_t>(buffers.key_number[key]);
    float* const row = rows + tile.forward.key_slot[number] * tile.forward.kv_stride;
    for (std::size_t part = 0; part < parts.count(); ++part) {
      const std::size_t begin = parts.begin(part) * kLanes, floats = parts.vectors(part) * kLanes;
      if (begin >= head_dim) break;
      add_row(sums + begin * kGradientKeys + key * floats, factor, std::min(floats, head_dim - begin),
              row + begin);
    }
  }
}

inline void add_queries(const GradientTile& tile, const Panel& panel, float factor,
                        const GradientBuffers& buffers) {
  transpose(buffers.d_q + panel.begin * buffers.width, buffers.width, panel.size(), panel.size(),
            buffers.rows, buffers.width);
  for (std::size_t i = 0; i < panel.count; ++i)
    add_row(buffers.rows + i * buffers.width, factor, static_cast<std::size_t>(tile.forward.head_dim),
            tile.d_q + slot_of_query(tile.forward, panel.begin + i) * tile.forward.q_stride);
}

template <class Products>
void run_gradient_tile_with(const GradientTile& tile, float* workspace) {
  static_assert(kTileVectors * kLanes <= kMaxPanel && kGradientKeys % kTileRows == 0);
  static_assert(kGradientKeys % kAmxBlock == 0 && kGradientKeys / 2 <= kMaxPanel);
  const Tile& forward = tile.forward;
  const auto queries = static_cast<std::size_t>(forward.queries.count);
  const GradientBuffers buffers(workspace, static_cast<std::size_t>(forward.head_dim), queries);
  const auto scale = static_cast<float>(1 / std::sqrt(static_cast<double>(forward.head_dim)));
  constexpr std::size_t kPanel = Products::kWidest * kLanes;
  const auto panel_of = [&](std::size_t i) { return gradient_panel<Products>(i, queries); };
  Products products;
  KeptPairs of_block;
  KeptPairs* const kept = drops(forward.dropout.dropout) ? &of_block : nullptr;
  std::fill_n(buffers.ones, kMaxPanel, 1.0f);
  for (std::size_t i = 0; i < queries; i += kPanel)
    gather_gradient_queries<Products>(tile, panel_of(i), buffers);
  const auto sees = [&](const Panel& panel, const KeyBlock& block) {
    return forward.mask == Mask::full ||
           block.first_position <= buffers.query_position[panel.begin + panel.count - 1];
  };
  for (std::size_t next = 0; next < forward.key_slot.size();) {
    const KeyBlock block = gather_gradient_keys<Products>(tile, buffers, next, kept);
    if (block.count == 0) break;
    if (tile.d_k != nullptr)
      for (float* sums : {buffers.d_k, buffers.d_v}) std::fill_n(sums, kGradientKeys * buffers.width, 0.0f);
    for (std::size_t i = 0; i < queries; i += kPanel) {
      const Panel panel = panel_of(i);
      if (sees(panel, block))
        with_vectors<Products>(panel.vectors, [&](auto vectors) {
          attend_gradients<decltype(vectors)::value>(products, tile, panel, block, buffers, kept);
        });
    }
    if (tile.d_k == nullptr) continue;
    add_keys<Products>(tile, block, buffers.d_k, scale, buffers, tile.d_k);
    add_keys<Products>(tile, block, buffers.d_v, forward.dropout.dropout.scale, buffers, tile.d_v);
  }
  if (tile.d_q != nullptr)
    for (std::size_t i = 0; i < queries; i += kPanel) add_queries(tile, panel_of(i), scale, buffers);
}

}  // namespace HWY_NAMESPACE
}  // namespace hilbench
HWY_AFTER_NAMESPACE();

#endif
