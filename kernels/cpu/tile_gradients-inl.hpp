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

#include "kernels/cpu/gradient_buffers.hpp"
#include "kernels/cpu/gradient_tile.hpp"
#include "kernels/cpu/tile_attention-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace hilbench {
namespace HWY_NAMESPACE {

// The elements of a row, in parts that are multiplied as lanes: as few as possible, and equally wide.
class Parts {
 public:
  explicit Parts(std::size_t width) : vectors_(width / kLanes) {}
  std::size_t count() const { return (vectors_ + kTileVectors - 1) / kTileVectors; }
  std::size_t begin(std::size_t part) const { return part * vectors_ / count(); }  // in vectors
  std::size_t vectors(std::size_t part) const { return begin(part + 1) - begin(part); }

 private:
  std::size_t vectors_;
};

// Calls visit(std::integral_constant<std::size_t, vectors>) for 1 to kTileVectors vectors.
template <class Visit>
HWY_INLINE void with_vectors(std::size_t vectors, const Visit& visit) {
  static_assert(kTileVectors == 3);
  if (vectors == 1) return visit(std::integral_constant<std::size_t, 1>());
  if (vectors == 2) return visit(std::integral_constant<std::size_t, 2>());
  visit(std::integral_constant<std::size_t, 3>());
}

// Copies rows of `width` elements to the parts of a panel or block of `rows` rows.
inline void to_parts(const float* from, std::size_t rows, std::size_t width, float* to) {
  const Parts parts(width);
  for (std::size_t part = 0; part < parts.count(); ++part) {
    const std::size_t floats = parts.vectors(part) * kLanes, begin = parts.begin(part) * kLanes;
    for (std::size_t row = 0; row < rows; ++row, to += floats)
      std::copy_n(from + row * width + begin, floats, to);
  }
}

// Q and dO of a panel, with rows of zeros after the last query.
inline void gather_gradient_queries(const GradientTile& tile, const Panel& panel,
                                    const GradientBuffers& buffers) {
  const Tile& forward = tile.forward;
  const std::size_t width = buffers.width, at = panel.begin * width;
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
  const auto gather = [&](const void* base, float* transposed, float* rows) {
    for (std::size_t i = 0; i < panel.size(); ++i)
      if (i < panel.count)
        widen_from(forward, base, slot_of_query(forward, panel.begin + i), forward.q_stride, width,
                   buffers.rows + i * width);
      else
        std::fill_n(buffers.rows + i * width, width, 0.0f);
    transpose(buffers.rows, panel.size(), width, width, transposed + at, panel.size());
    if (tile.d_k != nullptr) to_parts(buffers.rows, panel.size(), width, rows + at);
  };
  gather(forward.q, buffers.q, buffers.q_rows);
  gather(tile.d_o, buffers.d_o, buffers.d_o_rows);
  std::fill_n(buffers.d_q + at, panel.size() * width, 0.0f);
}

// Gathers the next keys from `next` on that are in the tile's slots and that some query of the tile sees.
// `kept`: null without dropout.
inline KeyBlock gather_gradient_keys(const GradientTile& tile, const GradientBuffers& buffers,
                                     std::size_t& next, KeptPairs* kept) {
  const Tile& forward = tile.forward;
  const std::int64_t last_query = forward.queries.last();
  const std::size_t keys = forward.key_slot.size(), width = buffers.width;
  KeyBlock block{.first = next};
  if (kept != nullptr) kept->start_block();
  for (; next < keys && block.count < kGradientKeys; ++next) {
    const std::size_t key = key_of_visit(forward, next);
    const std::int64_t slot = forward.key_slot[key];
    if (slot < tile.keys.begin || slot >= tile.keys.end) continue;
    const std::int32_t position = forward.key_position.empty() ? 0 : forward.key_position[key];
    if (forward.mask == Mask::causal && position > last_query) continue;
    float* const k = buffers.k + block.count * width;
    widen_from(forward, forward.k, slot, forward.kv_stride, width, k);
    widen_from(forward, forward.v, slot, forward.kv_stride, width, buffers.v + block.count * width);
    if (tile.d_q != nullptr)
      widen_row_to_slabs(k, width, width, kGradientSlabKeys * kTileRows,
                         buffers.k_slabs + block.count * kTileRows);
    if (kept != nullptr) kept->add_key(block.count, ordinal_of_key(forward.dropout, key));
    buffers.key_number[block.count] = static_cast<std::int32_t>(key);
    buffers.key_position[block.count++] = position;
    block.first_position = std::min<std::int64_t>(block.first_position, position);
    block.last_position = std::max<std::int64_t>(block.last_position, position);
  }
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

// sums[key] += sum over the panel's queries of factors[key][query] * rows[query], in parts.
inline void add_to_keys(const float* factors, const Panel& panel, std::size_t keys, const float* rows,
                        const GradientBuffers& buffers, float* sums) {
  const Parts parts(buffers.width);
  for (std::size_t part = 0; part < parts.count(); ++part)
    with_vectors(parts.vectors(part), [&](auto vectors) {
      constexpr std::size_t kPart = decltype(vectors)::value;
      for (std::size_t key = 0; key < keys; key += kTileRows)
        multiply_tile<kPart>(factors + key * panel.size(), panel.size(), 1,
                             rows + parts.begin(part) * kLanes * panel.size(), panel.size(), buffers.ones,
                             sums + (parts.begin(part) * kGradientKeys + key * kPart) * kLanes);
    });
}

template <std::size_t kVectors>
void attend_gradients(const GradientTile& tile, const Panel& panel, const KeyBlock& block,
                      const GradientBuffers& buffers, KeptPairs* kept) {
  const auto head_dim = static_cast<std::size_t>(tile.forward.head_dim);
  const std::size_t at = panel.begin * buffers.width;
  for (std::size_t key = 0; key < block.count; key += kTileRows) {
    const std::size_t row = key * buffers.width, to = key * kVectors * kLanes;
    multiply_tile<kVectors>(buffers.k + row, buffers.width, 1, buffers.q + at, head_dim, nullptr,
                            buffers.p + to);
    multiply_tile<kVectors>(buffers.v + row, buffers.width, 1, buffers.d_o + at, head_dim, nullptr,
                            buffers.d_s + to);
  }
  hide_scores<kVectors>(tile.forward, panel, block, buffers);
  if (kept != nullptr) {
    kept->draw(tile.forward.dropout, panel);
    kept->zero_dropped<kVectors>(buffers.d_s, block.count);
  }
  differentiate<kVectors>(panel, block.count, scale_of_scores(tile.forward),
                          tile.forward.dropout.dropout.scale, buffers);
  if (kept != nullptr) kept->zero_dropped<kVectors>(buffers.p, block.count);
  if (tile.d_k != nullptr) {
    add_to_keys(buffers.p, panel, block.count, buffers.d_o_rows + at, buffers, buffers.d_v);
    add_to_keys(buffers.d_s, panel, block.count, buffers.q_rows + at, buffers, buffers.d_k);
  }
  if (tile.d_q != nullptr)
    for (std::size_t d = 0; d < head_dim; d += kTileRows)
      multiply_tile<kVectors>(buffers.k_slabs + d * kGradientSlabKeys, 1, kTileRows, buffers.d_s, block.count,
                              buffers.ones, buffers.d_q + at + d * kVectors * kLanes);
}

// to[i] += from[i] * factor.
HWY_INLINE void add_row(const float* HWY_RESTRICT from, float factor, std::size_t count,
                        float* HWY_RESTRICT to) {
  merge_row(from, factor, 1.0f, count, to);
}

// Adds the sums of a block's keys to the rows in memory.
inline void add_keys(const GradientTile& tile, const KeyBlock& block, const float* sums, float factor,
                     const GradientBuffers& buffers, float* rows) {
  const Parts parts(buffers.width);
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

inline void run_gradient_tile_with(const GradientTile& tile, float* workspace) {
  static_assert(kTileVectors * kLanes <= kMaxPanel && kGradientKeys % kTileRows == 0);
  const Tile& forward = tile.forward;
  const auto queries = static_cast<std::size_t>(forward.queries.count);
  const GradientBuffers buffers(workspace, static_cast<std::size_t>(forward.head_dim), queries);
  const auto scale = static_cast<float>(1 / std::sqrt(static_cast<double>(forward.head_dim)));
  constexpr std::size_t kPanel = kTileVectors * kLanes;
  const auto panel_of = [&](std::size_t i) { return panel_at<Singles>(i, queries); };
  KeptPairs of_block;
  KeptPairs* const kept = drops(forward.dropout.dropout) ? &of_block : nullptr;
  std::fill_n(buffers.ones, kMaxPanel, 1.0f);
  for (std::size_t i = 0; i < queries; i += kPanel) gather_gradient_queries(tile, panel_of(i), buffers);
  const auto sees = [&](const Panel& panel, const KeyBlock& block) {
    return forward.mask == Mask::full ||
           block.first_position <= buffers.query_position[panel.begin + panel.count - 1];
  };
  for (std::size_t next = 0; next < forward.key_slot.size();) {
    const KeyBlock block = gather_gradient_keys(tile, buffers, next, kept);
    if (block.count == 0) break;
    if (tile.d_k != nullptr)
      for (float* sums : {buffers.d_k, buffers.d_v}) std::fill_n(sums, kGradientKeys * buffers.width, 0.0f);
    for (std::size_t i = 0; i < queries; i += kPanel) {
      const Panel panel = panel_of(i);
      if (sees(panel, block))
        with_vectors(panel.vectors, [&](auto vectors) {
          attend_gradients<decltype(vectors)::value>(tile, panel, block, buffers, kept);
        });
    }
    if (tile.d_k == nullptr) continue;
    add_keys(tile, block, buffers.d_k, scale, buffers, tile.d_k);
    add_keys(tile, block, buffers.d_v, forward.dropout.dropout.scale, buffers, tile.d_v);
  }
  if (tile.d_q != nullptr)
    for (std::size_t i = 0; i < queries; i += kPanel) add_queries(tile, panel_of(i), scale, buffers);
}

}  // namespace HWY_NAMESPACE
}  // namespace hilbench
HWY_AFTER_NAMESPACE();

#endif
