// Online softmax: turns the scores of a block of keys into probabilities.
#if defined(HILBENCH_KERNELS_CPU_TILE_SOFTMAX_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef HILBENCH_KERNELS_CPU_TILE_SOFTMAX_INL_HPP_
#undef HILBENCH_KERNELS_CPU_TILE_SOFTMAX_INL_HPP_
#else
#define HILBENCH_KERNELS_CPU_TILE_SOFTMAX_INL_HPP_
#endif

#include <cstring>

#include "kernels/cpu/amx_products.hpp"
#include "kernels/cpu/dilated_tile.hpp"
#include "kernels/cpu/softmax_state-inl.hpp"
#include "kernels/cpu/tile_buffers.hpp"
#include "kernels/cpu/tile_rows-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace hilbench {
namespace HWY_NAMESPACE {

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

// The lanes whose query the mask of a key names; the first of them is query `query`, a multiple of kLanes.
HWY_INLINE hn::Mask<decltype(kFloats)> queries_of(const KeyMask& mask, std::size_t query) {
  static_assert(64 % kLanes == 0);
  const bool padding = query >= static_cast<std::size_t>(kMaskedRows);  // of the last panel
  const std::uint64_t word = padding ? 0 : mask[query / 64] >> query % 64;
  std::uint8_t bits[8];
  std::memcpy(bits, &word, sizeof bits);
  return hn::LoadMaskBits(kFloats, bits);
}

// The same for windows: scores of keys that a query does not see.
template <std::size_t kVectors>
void mask_by_bits(const Tile& tile, std::size_t first_query, const KeyBlock& block, float* all_scores) {
  const Vector masked = hn::Set(kFloats, kMinusInfinity);
  for (std::size_t key = 0; key < block.count; ++key) {
    const KeyMask* mask = tile.masks.of_key(key_of_visit(tile, block.first + key));
    if (mask == nullptr) continue;
    for (std::size_t v = 0; v < kVectors; ++v) {
      float* scores = all_scores + (key * kVectors + v) * kLanes;
      const auto sees = queries_of(*mask, first_query + v * kLanes);
      hn::Store(hn::IfThenElse(sees, hn::Load(kFloats, scores), masked), kFloats, scores);
    }
  }
}

// The largest score of each lane, by two chains of comparisons for each vector.
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

// A fused score * scale - shift is not 0 for the largest score: it is what rounding took from `shift`, and
// beyond this shift it may be more than 1.
constexpr float kMostFusedShift = 16777216.0f;

template <std::size_t kVectors>
HWY_INLINE bool can_fuse(const Vector* shift) {
  const Vector most = hn::Set(kFloats, kMostFusedShift);
  auto within = hn::Le(hn::Abs(shift[0]), most);
  for (std::size_t v = 1; v < kVectors; ++v) within = hn::And(within, hn::Le(hn::Abs(shift[v]), most));
  return hn::AllTrue(kFloats, within);
}

// Replaces scores by score * scale - shift, with a product that is rounded as `shift` was: it is 0 for the
// largest score. The minimum, which changes no score, keeps a compiler from fusing the two.
template <std::size_t kVectors>
HWY_NOINLINE void shift_scores(float* HWY_RESTRICT scores, std::size_t keys, Vector scale,
                               const Vector* shift) {
  const Vector most = hn::Set(kFloats, std::numeric_limits<float>::max());
  for (std::size_t key = 0; key < keys; ++key)
    for (std::size_t v = 0; v < kVectors; ++v) {
      float* score = scores + (key * kVectors + v) * kLanes;
      const Vector product = hn::Min(hn::Mul(hn::Load(kFloats, score), scale), most);
      hn::Store(hn::Sub(product, shift[v]), kFloats, score);
    }
}

// Turns scores into probabilities relative to the maximum, which is raised if a score exceeds it by more than
// Products::kSlack. Writes to `factor` what earlier sums must be multiplied with. Calls `alongside(key)`
// before the arithmetic of kAmxBlock keys from `key` on.
template <class Products, std::size_t kVectors, class Alongside>
HWY_INLINE void soften_scores(float* HWY_RESTRICT scores, std::size_t keys, float scale_log2,
                              float* HWY_RESTRICT max, float* HWY_RESTRICT sum, float* HWY_RESTRICT factor,
                              const Alongside& alongside) {
  constexpr std::size_t kWidth = kVectors * kLanes;
  Vector scale = hn::Set(kFloats, scale_log2);
  const Vector one = hn::Set(kFloats, 1.0f);  // scores are in units of log2
  Vector top[kVectors], total[kVectors], shift[kVectors];
  find_maxima<kVectors>(scores, keys, top);
  for (std::size_t v = 0; v < kVectors; ++v) {
    SoftmaxState state{hn::Load(kFloats, max + v * kLanes), hn::Load(kFloats, sum + v * kLanes)};
    const Vector found = hn::Mul(top[v], scale);
    const auto passes = hn::Gt(found, hn::Add(state.max, hn::Set(kFloats, Products::kSlack)));
    hn::Store(state.raise(hn::IfThenElse(passes, found, state.max), one), kFloats, factor + v * kLanes);
    hn::Store(state.max, kFloats, max + v * kLanes);
    shift[v] = state.shift();
    total[v] = state.sum;
  }
  if (!can_fuse<kVectors>(shift)) {
    Vector by[kVectors];  // so that `shift` can stay in registers
    for (std::size_t v = 0; v < kVectors; ++v) {
      by[v] = shift[v];
      shift[v] = hn::Zero(kFloats);
    }
    shift_scores<kVectors>(scores, keys, scale, by);
    scale = one;
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
    const auto soften_pair = [&](std::size_t pair, std::size_t v) HWY_ATTR {
      const Vector first = probability(2 * pair, v);
      store_pair(pair, v, first, probability(2 * pair + 1, v));
    };
    std::size_t pair = 0;
    for (std::size_t block = 0; block < keys; block += kAmxBlock) {
      alongside(block);
      for (const std::size_t end = std::min(keys, block + kAmxBlock) / 2; pair < end; ++pair)
        for (std::size_t v = 0; v < kVectors; ++v) soften_pair(pair, v);
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

}  // namespace HWY_NAMESPACE
}  // namespace hilbench
HWY_AFTER_NAMESPACE();

#endif
