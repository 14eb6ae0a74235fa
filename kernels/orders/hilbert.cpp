// Hilbert indices without a loop over the levels.
//
// Let (x, y) be a point, and H and L the odd (upper) and even (lower) bits of its index, level by level. A
// quadrant with H = L is entered transposed; one with H = L = 1 is complemented too. Both operations commute,
// so the orientation of a level is a pair (s, f): s is the XOR of ~(H ^ L) over all levels above, f the XOR
// of H & L. Then
//   x = f ^ H ^ (s & L),  y = x ^ L.
// Decoding knows H and L, so s and f are two prefix XORs. Encoding knows L = x ^ y; each level maps the
// orientation above it affinely over GF(2),
//   s' = (~L & s) ^ f ^ ~y,  f' = (L & s) ^ (~L & f) ^ (x & ~y),
// and a prefix scan composes these maps in log2(16) steps, for all 16 levels at once in the bits of one lane.
#include "kernels/orders/hilbert.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/orders/hilbert.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace hilbench {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D32 = hn::ScalableTag<std::uint32_t>;
using D16 = hn::Rebind<std::uint16_t, D32>;
using V32 = hn::Vec<D32>;

// In each lane, swaps the bits under `mask` with the bits kShift places higher.
template <int kShift>
HWY_INLINE V32 swap_bits(V32 v, std::uint32_t mask) {
  const V32 difference = hn::And(hn::Xor(v, hn::ShiftRight<kShift>(v)), hn::Set(D32(), mask));
  return hn::Xor(v, hn::Xor(difference, hn::ShiftLeft<kShift>(difference)));
}

// Moves the upper half of a lane to its odd bits, the lower half to its even bits.
HWY_INLINE V32 interleave(V32 v) {
  v = swap_bits<8>(v, 0x0000FF00u);
  v = swap_bits<4>(v, 0x00F000F0u);
  v = swap_bits<2>(v, 0x0C0C0C0Cu);
  return swap_bits<1>(v, 0x22222222u);
}

HWY_INLINE V32 deinterleave(V32 v) {
  v = swap_bits<1>(v, 0x22222222u);
  v = swap_bits<2>(v, 0x0C0C0C0Cu);
  v = swap_bits<4>(v, 0x00F000F0u);
  return swap_bits<8>(v, 0x0000FF00u);
}

HWY_INLINE V32 xor_and(V32 sum, V32 a, V32 b) {
  return hn::Xor(sum, hn::And(a, b));
}

// For each level, the map from the orientation above the top level to the one below that level: (s, f) -> M
// (s, f) + c. The zeros that a shift brings in from above the top mean the orientation (0, 0) in c; M is no
// longer needed there.
struct Scan {
  V32 ss, sf, fs, ff;  // M
  V32 s, f;            // c
};

template <int kShift>
HWY_INLINE void compose_offset(Scan& low) {
  const V32 s = hn::ShiftRight<kShift>(low.s);
  const V32 f = hn::ShiftRight<kShift>(low.f);
  low.s = xor_and(xor_and(low.s, low.ss, s), low.sf, f);
  low.f = xor_and(xor_and(low.f, low.fs, s), low.ff, f);
}

template <int kShift>
HWY_INLINE void compose(Scan& low) {
  compose_offset<kShift>(low);
  const V32 ss = hn::ShiftRight<kShift>(low.ss);
  const V32 sf = hn::ShiftRight<kShift>(low.sf);
  const V32 fs = hn::ShiftRight<kShift>(low.fs);
  const V32 ff = hn::ShiftRight<kShift>(low.ff);
  const Scan m = low;
  low.ss = xor_and(hn::And(m.ss, ss), m.sf, fs);
  low.sf = xor_and(hn::And(m.ss, sf), m.sf, ff);
  low.fs = xor_and(hn::And(m.fs, ss), m.ff, fs);
  low.ff = xor_and(hn::And(m.fs, sf), m.ff, ff);
}

HWY_INLINE V32 encode(V32 x, V32 y, V32 levels) {
  const V32 low = hn::Xor(x, y);
  const V32 same = hn::AndNot(low, levels);
  const V32 not_y = hn::AndNot(y, levels);
  Scan scan{same, levels, low, same, not_y, hn::And(x, not_y)};
  compose<1>(scan);
  compose<2>(scan);
  compose<4>(scan);
  compose_offset<8>(scan);
  const V32 s = hn::ShiftRight<1>(scan.s);
  const V32 f = hn::ShiftRight<1>(scan.f);
  const V32 high = xor_and(hn::Xor(f, x), s, low);
  return interleave(hn::Or(hn::ShiftLeft<16>(high), low));
}

template <int kShift>
HWY_INLINE V32 prefix_step(V32 v, std::uint32_t mask) {
  return xor_and(v, hn::ShiftRight<kShift>(v), hn::Set(D32(), mask));
}

// Each bit becomes the XOR of itself and all higher bits of its 16-bit half.
HWY_INLINE V32 prefix_xor_halves(V32 v) {
  v = prefix_step<1>(v, 0x7FFF7FFFu);
  v = prefix_step<2>(v, 0x3FFF3FFFu);
  v = prefix_step<4>(v, 0x0FFF0FFFu);
  return prefix_step<8>(v, 0x00FF00FFu);
}

struct Point {
  V32 x, y;
};

HWY_INLINE Point decode(V32 index, V32 levels) {
  const V32 split = deinterleave(index);
  const V32 high = hn::ShiftRight<16>(split);
  const V32 low = hn::And(split, hn::Set(D32(), 0xFFFFu));
  const V32 same = hn::AndNot(hn::Xor(high, low), levels);
  const V32 below = prefix_xor_halves(hn::Or(hn::ShiftLeft<16>(same), hn::And(high, low)));
  const V32 s = hn::ShiftRight<17>(below);
  const V32 f = hn::ShiftRight<1>(hn::And(below, hn::Set(D32(), 0xFFFFu)));
  const V32 x = xor_and(hn::Xor(f, high), s, low);
  return {x, hn::Xor(x, low)};
}

HWY_INLINE V32 load(const std::uint16_t* from) {
  return hn::PromoteTo(D32(), hn::LoadU(D16(), from));
}

HWY_INLINE void store(V32 v, std::uint16_t* to) {
  const hn::RebindToSigned<D32> d;
  hn::StoreU(hn::DemoteTo(D16(), hn::BitCast(d, v)), D16(), to);
}

void encode_all(const std::uint16_t* x, const std::uint16_t* y, std::size_t count, std::uint32_t level_mask,
                std::uint32_t* index) {
  const D32 d;
  const std::size_t lanes = hn::Lanes(d);
  const V32 levels = hn::Set(d, level_mask);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(encode(load(x + i), load(y + i), levels), d, index + i);
  if (i == count) return;
  std::uint16_t rest_x[hn::MaxLanes(d)] = {}, rest_y[hn::MaxLanes(d)] = {};
  std::uint32_t rest[hn::MaxLanes(d)];
  for (std::size_t j = i; j < count; ++j) rest_x[j - i] = x[j], rest_y[j - i] = y[j];
  hn::StoreU(encode(load(rest_x), load(rest_y), levels), d, rest);
  for (std::size_t j = i; j < count; ++j) index[j] = rest[j - i];
}

void decode_all(const std::uint32_t* index, std::size_t count, std::uint32_t level_mask, std::uint16_t* x,
                std::uint16_t* y) {
  const D32 d;
  const std::size_t lanes = hn::Lanes(d);
  const V32 levels = hn::Set(d, level_mask);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const Point point = decode(hn::LoadU(d, index + i), levels);
    store(point.x, x + i);
    store(point.y, y + i);
  }
  if (i == count) return;
  std::uint32_t rest[hn::MaxLanes(d)] = {};
  std::uint16_t rest_x[hn::MaxLanes(d)], rest_y[hn::MaxLanes(d)];
  for (std::size_t j = i; j < count; ++j) rest[j - i] = index[j];
  const Point point = decode(hn::LoadU(d, rest), levels);
  store(point.x, rest_x);
  store(point.y, rest_y);
  for (std::size_t j = i; j < count; ++j) x[j] = rest_x[j - i], y[j] = rest_y[j - i];
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hilbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <fmt/format.h>

#include "kernels/base/text/error.hpp"

namespace hilbench {
namespace {

HWY_EXPORT(encode_all);
HWY_EXPORT(decode_all);

std::uint32_t level_mask(int k) {
  if (k < 0 || k > 16)
    throw UsageError({fmt::format("Hilbert grid of 2^{}", k), "hilbert", "k is 0 to 16", ""});
  return (std::uint32_t{1} << k) - 1;
}

void require_equal(std::size_t x, std::size_t y, std::size_t index) {
  if (x != index || y != index)
    throw UsageError(
        {"spans of unequal length", "hilbert", fmt::format("x {}, y {}, index {}", x, y, index), ""});
}

}  // namespace

void hilbert_encode(std::span<const std::uint16_t> x, std::span<const std::uint16_t> y, int k,
                    std::span<std::uint32_t> index) {
  require_equal(x.size(), y.size(), index.size());
  HWY_DYNAMIC_DISPATCH(encode_all)(x.data(), y.data(), x.size(), level_mask(k), index.data());
}

void hilbert_decode(std::span<const std::uint32_t> index, int k, std::span<std::uint16_t> x,
                    std::span<std::uint16_t> y) {
  require_equal(x.size(), y.size(), index.size());
  HWY_DYNAMIC_DISPATCH(decode_all)(index.data(), index.size(), level_mask(k), x.data(), y.data());
}

}  // namespace hilbench
#endif  // HWY_ONCE
