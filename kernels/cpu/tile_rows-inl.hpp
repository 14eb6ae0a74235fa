// Copies rows of Q, K and V into the buffers of a tile, and rows of O and LSE out of them.
#if defined(HILBENCH_KERNELS_CPU_TILE_ROWS_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef HILBENCH_KERNELS_CPU_TILE_ROWS_INL_HPP_
#undef HILBENCH_KERNELS_CPU_TILE_ROWS_INL_HPP_
#else
#define HILBENCH_KERNELS_CPU_TILE_ROWS_INL_HPP_
#endif

#include <algorithm>
#include <limits>

#include "kernels/cpu/tile_dropout-inl.hpp"
#include "kernels/cpu/tile_products-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace hilbench {
namespace HWY_NAMESPACE {

// Rows are prefetched this many rows ahead, because their strides are too long for the processor to predict.
constexpr std::size_t kRowsAhead = 24;

template <int kWrites>
void prefetch_row(const void* base, std::int64_t first_byte, std::int64_t bytes) {
  const char* row = static_cast<const char*>(base) + first_byte;
  for (std::int64_t byte = 0; byte < bytes; byte += std::int64_t{kLineBytes})
    __builtin_prefetch(row + byte, kWrites, 3);
}

// Row of query i in position order.
inline std::int64_t row_of_query(const Tile& tile, std::size_t i) {
  const std::int64_t number = tile.queries.first + static_cast<std::int64_t>(i) * tile.queries.step;
  return tile.query_rows.empty() ? number : tile.query_rows[static_cast<std::size_t>(number)];
}

inline std::int64_t slot_of_query(const Tile& tile, std::size_t i) {
  const std::int64_t position = row_of_query(tile, i);
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
    buffers.query_position[query] = static_cast<std::int32_t>(row_of_query(tile, query));
  }
  transpose(buffers.rows, panel.size(), words, words, buffers.q + panel.begin * words, panel.size());
  std::fill_n(buffers.o + panel.begin * buffers.width, panel.size() * buffers.width, 0.0f);
  std::fill_n(buffers.max + panel.begin, panel.size(), kMinusInfinity);
  std::fill_n(buffers.sum + panel.begin, panel.size(), 0.0f);
}

// Number in the tile's list of the key that is visited as number `visit`.
inline std::size_t key_of_visit(const Tile& tile, std::size_t visit) {
  return tile.keys_backwards ? tile.key_slot.size() - 1 - visit : visit;
}

// Gathers the next keys from `next` on, without those that no query of the tile sees. `kept`: null without
// dropout.
template <class Products>
KeyBlock gather_keys(const Tile& tile, const TileBuffers& buffers, std::size_t& next, KeptPairs* kept) {
  const std::int64_t last_query = tile.queries.last();
  const std::size_t keys = tile.key_slot.size();
  KeyBlock block{.first = next};
  if (kept != nullptr) kept->start_block();
  for (; next < keys && block.count < kKeyBlock; ++next) {
    const std::size_t key = key_of_visit(tile, next);
    const std::int32_t position = tile.key_position.empty() ? 0 : tile.key_position[key];
    if (tile.mask == Mask::causal && position > last_query) continue;
    const std::int64_t slot = tile.key_slot[key];
    Products::gather_row(tile, tile.k, slot, tile.kv_stride, buffers,
                         buffers.k + block.count * Products::words(buffers.width));
    Products::gather_value(tile, slot, buffers, block.count);
    if (kept != nullptr) kept->add_key(block.count, ordinal_of_key(tile.dropout, key));
    buffers.key_position[block.count++] = position;
    block.first_position = std::min<std::int64_t>(block.first_position, position);
    block.last_position = std::max<std::int64_t>(block.last_position, position);
  }
  Products::finish_values(buffers, block.count);
  return block;
}

// Computes the factors and the LSE of a panel, merged with the results of earlier branches in memory. `scale`
// is that of dropout.
inline void finish_states(const Panel& panel, const TileBuffers& buffers, float scale) {
  const Vector log2_e = hn::Set(kFloats, std::numbers::log2e_v<float>);
  const Vector ln_2 = hn::Set(kFloats, std::numbers::ln2_v<float>);
  const Vector ln_e = hn::Set(kFloats, 1.0f);
  for (std::size_t i = panel.begin; i < panel.begin + panel.size(); i += kLanes) {
    const SoftmaxState branch{hn::Load(kFloats, buffers.max + i), hn::Load(kFloats, buffers.sum + i)};
    SoftmaxState row = averaged(hn::Load(kFloats, buffers.lse + i));
    const SoftmaxState::Factors factors = row.merge(averaged(branch.lse(ln_2)), log2_e);
    const Vector average = row.normalize();
    hn::Store(hn::Mul(factors.own, average), kFloats, buffers.own + i);
    const Vector of_branch = hn::Mul(branch.normalize(), hn::Set(kFloats, scale));
    hn::Store(hn::Mul(hn::Mul(factors.other, average), of_branch), kFloats, buffers.factor + i);
    hn::Store(row.lse(ln_e), kFloats, buffers.lse + i);
  }
}

inline void write_row(const Tile& tile, const float* row, float factor, float own, std::int64_t position) {
  const auto head_dim = static_cast<std::size_t>(tile.head_dim);
  if (tile.o_dtype == Dtype::bf16)
    return store_row(row, factor, head_dim, static_cast<std::uint16_t*>(tile.o) + position * tile.q_stride);
  float* to = static_cast<float*>(tile.o) + position * tile.q_stride;
  if (tile.combine == Combine::store)
    store_row(row, factor, head_dim, to);
  else
    merge_row(row, factor, own, head_dim, to);
}

inline void finish_panel(const Tile& tile, const Panel& panel, const TileBuffers& buffers) {
  const std::int32_t* position = buffers.query_position + panel.begin;
  float* lse = buffers.lse + panel.begin;
  std::fill_n(lse, panel.size(), kMinusInfinity);
  if (tile.combine == Combine::merge)
    for (std::size_t i = 0; i < panel.count; ++i) lse[i] = tile.lse[position[i] * tile.lse_stride];
  finish_states(panel, buffers, tile.dropout.dropout.scale);
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

}  // namespace HWY_NAMESPACE
}  // namespace hilbench
HWY_AFTER_NAMESPACE();

#endif
