// Copies rows of head_dim elements between memory (fp32 or bf16, any stride) and packed fp32 buffers.
#if defined(HILBENCH_KERNELS_CPU_ROWS_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef HILBENCH_KERNELS_CPU_ROWS_INL_HPP_
#undef HILBENCH_KERNELS_CPU_ROWS_INL_HPP_
#else
#define HILBENCH_KERNELS_CPU_ROWS_INL_HPP_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/base/files/float16.hpp"
#include "kernels/case/case.hpp"
#include "kernels/cpu/simd-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace hilbench {
namespace HWY_NAMESPACE {

inline float to_float(float value) {
  return value;
}
inline float to_float(std::uint16_t bits) {
  return bf16_value(bits);
}

template <class Tag>
HWY_INLINE hn::Vec<Tag> load_floats(Tag tag, const float* from) {
  return hn::LoadU(tag, from);
}
template <class Tag>
HWY_INLINE hn::Vec<Tag> load_floats(Tag tag, const std::uint16_t* from) {
  const hn::Rebind<std::uint16_t, Tag> narrow;
  const hn::Rebind<std::uint32_t, Tag> bits;
  return hn::BitCast(tag, hn::ShiftLeft<16>(hn::PromoteTo(bits, hn::LoadU(narrow, from))));
}

// bf16 is rounded to nearest even.
inline void store_float(float value, float* to) {
  *to = value;
}
inline void store_float(float value, std::uint16_t* to) {
  *to = bf16_bits(value);
}
HWY_INLINE void store_floats(Vector values, float* to) {
  hn::StoreU(values, kFloats, to);
}
HWY_INLINE void store_floats(Vector values, std::uint16_t* to) {
  const hn::RebindToUnsigned<Floats> bits;
  const hn::Rebind<std::uint16_t, Floats> narrow;
  const auto exact = hn::BitCast(bits, values);
  const auto odd = hn::And(hn::ShiftRight<16>(exact), hn::Set(bits, 1));
  const auto rounded = hn::ShiftRight<16>(hn::Add(exact, hn::Add(odd, hn::Set(bits, 0x7fff))));
  hn::StoreU(hn::DemoteTo(narrow, hn::BitCast(Ints(), rounded)), narrow, to);
}

// to[0, width) becomes the `count` elements of `from`, widened, followed by zeros.
template <class Element>
HWY_INLINE void widen_row(const Element* HWY_RESTRICT from, std::size_t count, std::size_t width,
                          float* HWY_RESTRICT to) {
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) hn::StoreU(load_floats(kFloats, from + i), kFloats, to + i);
  for (; i < count; ++i) to[i] = to_float(from[i]);
  for (; i < width; ++i) to[i] = 0;
}

// The same in slabs of kTileRows elements: element i goes to to[i / kTileRows * slab_stride + i % kTileRows].
// `width` must be a multiple of kTileRows.
template <class Element>
HWY_INLINE void widen_row_to_slabs(const Element* HWY_RESTRICT from, std::size_t count, std::size_t width,
                                   std::size_t slab_stride, float* HWY_RESTRICT to) {
  const hn::CappedTag<float, kTileRows> part;
  constexpr std::size_t kPart = hn::MaxLanes(part);
  std::size_t i = 0;
  for (; i + kTileRows <= count; i += kTileRows, to += slab_stride)
    for (std::size_t j = 0; j < kTileRows; j += kPart)
      hn::StoreU(load_floats(part, from + i + j), part, to + j);
  for (; i < width; i += kTileRows, to += slab_stride)
    for (std::size_t j = 0; j < kTileRows; ++j) to[j] = i + j < count ? to_float(from[i + j]) : 0;
}

#if HWY_ARCH_X86_64 && HWY_TARGET <= HWY_AVX3
// to[0, width) becomes the `count` bf16 elements of `from`, followed by zeros.
HWY_INLINE void copy_row(const std::uint16_t* HWY_RESTRICT from, std::size_t count, std::size_t width,
                         float* HWY_RESTRICT to) {
  auto* bytes = reinterpret_cast<std::byte*>(to);
  std::memcpy(bytes, from, count * sizeof(std::uint16_t));
  std::memset(bytes + count * sizeof(std::uint16_t), 0, (width - count) * sizeof(std::uint16_t));
}

// Words of two bf16: writes element i of `from` (0 for i >= count) to one half of word to[i], for i < width.
// The lower half must be written first, because it clears the upper half.
enum class Half { lower, upper };
HWY_INLINE void join_row(const std::uint16_t* HWY_RESTRICT from, std::size_t count, std::size_t width,
                         Half half, float* HWY_RESTRICT to) {
  const hn::RebindToUnsigned<Floats> words;
  const hn::Rebind<std::uint16_t, Floats> narrow;
  for (std::size_t i = 0; i < width; i += kLanes) {
    const auto element = hn::PromoteTo(
        words, i + kLanes <= count
                   ? hn::LoadU(narrow, from + i)
                   : hn::MaskedLoad(hn::FirstN(narrow, count - std::min(i, count)), narrow, from + i));
    const auto joined = half == Half::lower ? element
                                            : hn::Or(hn::BitCast(words, hn::Load(kFloats, to + i)),
                                                     hn::ShiftLeft<16>(element));
    hn::Store(hn::BitCast(kFloats, joined), kFloats, to + i);
  }
}

// Rounds probabilities to the nearest bf16. They must be finite and not negative.
HWY_INLINE Vector round_to_pair(Vector lower, Vector upper) {
  const hn::RebindToUnsigned<Floats> words;
  const hn::Repartition<std::uint16_t, Floats> halves;
  const auto half_unit = hn::Set(words, 0x8000);
  const auto low = hn::ShiftRight<16>(hn::Add(hn::BitCast(words, lower), half_unit));
  const auto high = hn::Add(hn::BitCast(words, upper), half_unit);
  return hn::BitCast(kFloats, hn::OddEven(hn::BitCast(halves, high), hn::BitCast(halves, low)));
}

// rows[row][v] *= factor[v], for [count][kVectors] whole vectors. Does nothing if all factors are 1.
template <std::size_t kVectors>
HWY_INLINE void scale_rows(float* HWY_RESTRICT rows, std::size_t count, const float* HWY_RESTRICT factor) {
  bool all_one = true;
  for (std::size_t v = 0; v < kVectors; ++v)
    all_one = all_one &&
              hn::AllTrue(kFloats, hn::Eq(hn::Load(kFloats, factor + v * kLanes), hn::Set(kFloats, 1.0f)));
  if (all_one) return;
  for (std::size_t row = 0; row < count; ++row)
    for (std::size_t v = 0; v < kVectors; ++v, rows += kLanes)
      hn::Store(hn::Mul(hn::Load(kFloats, rows), hn::Load(kFloats, factor + v * kLanes)), kFloats, rows);
}
#endif

// to[column][row] = from[row][column]; `rows` is a multiple of the vector length, `columns` of 4.
#if HWY_TARGET == HWY_SCALAR
inline void transpose(const float* HWY_RESTRICT from, std::size_t rows, std::size_t columns,
                      std::size_t from_stride, float* HWY_RESTRICT to, std::size_t to_stride) {
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t column = 0; column < columns; ++column)
      to[column * to_stride + row] = from[row * from_stride + column];
}
#else
// Loads four floats from each of several rows, `stride` apart: one row for each 128-bit block of the vector.
template <class Tag>
HWY_INLINE hn::Vec<Tag> load_blocks(Tag tag, const float* from, std::size_t stride) {
  if constexpr (hn::MaxLanes(Tag()) == 4) {
    return hn::LoadU(tag, from);
  } else {
    const hn::Half<Tag> half;
    const float* upper = from + hn::MaxLanes(half) / 4 * stride;
    return hn::Combine(tag, load_blocks(half, upper, stride), load_blocks(half, from, stride));
  }
}

HWY_INLINE void transpose(const float* HWY_RESTRICT from, std::size_t rows, std::size_t columns,
                          std::size_t from_stride, float* HWY_RESTRICT to, std::size_t to_stride) {
  const hn::Repartition<double, Floats> pairs;  // two floats moved together
  for (std::size_t row = 0; row < rows; row += kLanes) {
    for (std::size_t column = 0; column < columns; column += 4) {
      const float* block = from + row * from_stride + column;
      const Vector row0 = load_blocks(kFloats, block, 4 * from_stride);
      const Vector row1 = load_blocks(kFloats, block + from_stride, 4 * from_stride);
      const Vector row2 = load_blocks(kFloats, block + 2 * from_stride, 4 * from_stride);
      const Vector row3 = load_blocks(kFloats, block + 3 * from_stride, 4 * from_stride);
      const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(kFloats, row0, row1));
      const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(kFloats, row2, row3));
      const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(kFloats, row0, row1));
      const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(kFloats, row2, row3));
      float* out = to + column * to_stride + row;
      hn::StoreU(hn::BitCast(kFloats, hn::InterleaveLower(pairs, low01, low23)), kFloats, out);
      hn::StoreU(hn::BitCast(kFloats, hn::InterleaveUpper(pairs, low01, low23)), kFloats, out + to_stride);
      hn::StoreU(hn::BitCast(kFloats, hn::InterleaveLower(pairs, high01, high23)), kFloats,
                 out + 2 * to_stride);
      hn::StoreU(hn::BitCast(kFloats, hn::InterleaveUpper(pairs, high01, high23)), kFloats,
                 out + 3 * to_stride);
    }
  }
}
#endif

// to[i] = from[i] * factor, rounded to Element.
template <class Element>
HWY_INLINE void store_row(const float* HWY_RESTRICT from, float factor, std::size_t count,
                          Element* HWY_RESTRICT to) {
  const Vector factors = hn::Set(kFloats, factor);
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    store_floats(hn::Mul(hn::LoadU(kFloats, from + i), factors), to + i);
  for (; i < count; ++i) store_float(from[i] * factor, to + i);
}

// to[i] = to[i] * own + from[i] * factor.
HWY_INLINE void merge_row(const float* HWY_RESTRICT from, float factor, float own, std::size_t count,
                          float* HWY_RESTRICT to) {
  const Vector factors = hn::Set(kFloats, factor);
  const Vector owns = hn::Set(kFloats, own);
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    hn::StoreU(hn::MulAdd(hn::LoadU(kFloats, to + i), owns, hn::Mul(hn::LoadU(kFloats, from + i), factors)),
               kFloats, to + i);
  for (; i < count; ++i) to[i] = to[i] * own + from[i] * factor;
}

}  // namespace HWY_NAMESPACE
}  // namespace hilbench
HWY_AFTER_NAMESPACE();

#endif
