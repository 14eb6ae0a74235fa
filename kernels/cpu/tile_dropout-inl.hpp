// Dropout in a tile: which pairs of a panel of queries and a block of keys are kept
// (kernels/case/dropout.hpp).
#if defined(HILBENCH_KERNELS_CPU_TILE_DROPOUT_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef HILBENCH_KERNELS_CPU_TILE_DROPOUT_INL_HPP_
#undef HILBENCH_KERNELS_CPU_TILE_DROPOUT_INL_HPP_
#else
#define HILBENCH_KERNELS_CPU_TILE_DROPOUT_INL_HPP_
#endif

#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/case/dropout.hpp"
#include "kernels/cpu/tile_products-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace hilbench {
namespace HWY_NAMESPACE {

using Words = hn::RebindToUnsigned<Floats>;
using WordVector = hn::Vec<Words>;
#if HWY_TARGET != HWY_SCALAR
using WideWords = hn::RepartitionToWide<Words>;
using Bytes = hn::Repartition<std::uint8_t, Words>;
using WideVector = hn::Vec<WideWords>;

// A counter of Philox in the lower half of each lane; upper halves may hold anything.
struct WideCounters {
  WideVector word[4];
};

HWY_INLINE WideCounters philox_lanes(WideCounters counter, const Dropout& dropout) {
  const Words words;
  const WideWords wide;
  const auto product = [&](WideVector factor, std::uint32_t by)
                           HWY_ATTR { return hn::MulEven(hn::BitCast(words, factor), hn::Set(words, by)); };
  std::uint32_t key_0 = dropout.key_0, key_1 = dropout.key_1;
#pragma GCC unroll 8
  for (int round = 0; round < kDropoutRounds; ++round) {
    const WideVector first = product(counter.word[0], kPhiloxFactor0);
    const WideVector second = product(counter.word[2], kPhiloxFactor1);
    counter = {hn::Xor3(hn::ShiftRight<32>(second), counter.word[1], hn::Set(wide, key_0)), second,
               hn::Xor3(hn::ShiftRight<32>(first), counter.word[3], hn::Set(wide, key_1)), first};
    key_0 += kPhiloxStep0, key_1 += kPhiloxStep1;
  }
  return counter;
}

#endif

// The kept pairs of one panel and block. Queries are in groups of 16, which four patches cover.
class KeptPairs {
 public:
  void start_block() { patches_ = 0; }

  // The next key of the block; `ordinal` is its number in its segment. Keys that are near each other share
  // a patch, in whatever sequence they come.
  void add_key(std::size_t key, std::uint32_t ordinal) {
    const std::uint32_t patch = dropout_patch(ordinal);
    const std::size_t oldest = patches_ > kRemembered ? patches_ - kRemembered : 0;
    std::size_t at = patches_;
    while (at > oldest && patch_[at - 1][0] != patch) --at;
    if (at == oldest) {
      at = ++patches_;
      patch_[at - 1].fill(patch);
    }
    patch_of_key_[key] = static_cast<std::uint8_t>(at - 1);
    bit_of_key_[key] = std::uint32_t{1} << 8 * dropout_place(ordinal);
  }

  // Finds the kept pairs of the panel with the keys that were added.
  void draw(const TileDropout& of_tile, const Panel& panel) {
    const std::size_t first = of_tile.first_query + panel.begin, last = first + panel.size() - 1;
    first_ = first % kGroup;
    for (std::size_t i = patches_; i % kAtOnce != 0; ++i) patch_[i].fill(0);
    for (std::size_t group = first / kGroup; group <= last / kGroup; ++group)
      for (std::size_t patch = 0; patch < patches_; patch += kAtOnce)
        draw_patches(of_tile, static_cast<std::uint32_t>(group), patch, (group - first / kGroup) * kGroup);
  }

  // Zeros for the pairs that are not kept; `values` are [keys][panel].
  template <std::size_t kVectors>
  void zero_dropped(float* HWY_RESTRICT values, std::size_t keys) const {
    for (std::size_t key = 0; key < keys; ++key)
      for (std::size_t v = 0; v < kVectors; ++v) {
        float* value = values + (key * kVectors + v) * kLanes;
        hn::Store(hn::IfThenElseZero(hn::RebindMask(kFloats, kept(key, v)), hn::Load(kFloats, value)),
                  kFloats, value);
      }
  }
  // The same if a word holds the bf16 values of two keys, the first in its lower half.
  template <std::size_t kVectors>
  void zero_dropped_halves(float* HWY_RESTRICT values, std::size_t keys) const {
    const Words words;
    const WordVector lower = hn::Set(words, 0xffff), upper = hn::Set(words, 0xffff0000);
    for (std::size_t key = 0; key < keys; key += 2)
      for (std::size_t v = 0; v < kVectors; ++v) {
        auto* word = reinterpret_cast<std::uint32_t*>(values) + (key / 2 * kVectors + v) * kLanes;
        WordVector halves = hn::IfThenElseZero(kept(key, v), lower);
        if (key + 1 < keys) halves = hn::Or(halves, hn::IfThenElseZero(kept(key + 1, v), upper));
        hn::Store(hn::And(hn::Load(words, word), halves), words, word);
      }
  }

 private:
  static constexpr std::size_t kGroup = 16;
  static constexpr std::size_t kMostQueries = round_up(kMaxPanel + kGroup - 1, kGroup);
  static constexpr std::size_t kAtOnce =
      std::max<std::size_t>(1, kLanes / 4);      // patches of keys, each with the four of queries
  static constexpr std::size_t kRemembered = 8;  // 16 keys in sequence share four
  static constexpr std::size_t kMostPatches = kKeyBlock + kMaxLanes / 4;

  HWY_INLINE hn::Mask<Words> kept(std::size_t key, std::size_t v) const {
    const Words words;
    const std::uint32_t* flags = flags_[patch_of_key_[key]].data() + first_ + v * kLanes;
    return hn::TestBit(hn::LoadU(words, flags), hn::Set(words, bit_of_key_[key]));
  }

#if HWY_TARGET == HWY_SCALAR
  // Bytes of the words of flags in which pairs are kept become 255, those of the others 0.
  void draw_patches(const TileDropout& of_tile, std::uint32_t group, std::size_t patch, std::size_t to) {
    for (std::uint32_t queries = 0; queries < 4; ++queries) {
      const PhiloxWords drawn =
          dropout_words(of_tile.dropout, of_tile.stream, 8 * group + queries, patch_[patch][0]);
      for (std::uint32_t row = 0; row < 4; ++row) {
        std::uint32_t flags = 0;
        for (std::uint32_t byte = 0; byte < 4; ++byte)
          if ((drawn.word[row] >> 8 * byte & 255) < of_tile.dropout.threshold) flags |= 255u << 8 * byte;
        flags_[patch][to + 2 * queries + row % 2 + 8 * (row / 2)] = flags;
      }
    }
  }
#else
  // Bytes of `words` in which pairs are kept become 255, those of the others 0.
  static HWY_INLINE WordVector kept_bytes(WordVector words, std::uint32_t threshold) {
    const Bytes bytes;
    const auto kept = hn::Lt(hn::BitCast(bytes, words), hn::Set(bytes, static_cast<std::uint8_t>(threshold)));
    return hn::BitCast(Words(), hn::VecFromMask(bytes, kept));
  }

  // A vector of words has four lanes for each patch of keys, one for each patch of queries. The even ones are
  // computed together, and the odd ones.
  void draw_patches(const TileDropout& of_tile, std::uint32_t group, std::size_t patch, std::size_t to) {
    const Words words;
    const WideWords wide;
    const WideVector keys = hn::BitCast(wide, hn::LoadU(words, patch_[patch].data()));
    const WideVector pair = hn::And(hn::Iota(wide, 0), hn::Set(wide, 1));  // 0, 1, 0, 1 ...
    const WideVector even = hn::Add(hn::Set(wide, std::uint64_t{group} * 8), hn::Add(pair, pair));
    const auto drawn = [&](WideVector queries) HWY_ATTR {
      return philox_lanes(
          {queries, keys, hn::Set(wide, of_tile.stream.segment), hn::Set(wide, of_tile.stream.number)},
          of_tile.dropout);
    };
    const WideCounters of_even = drawn(even), of_odd = drawn(hn::Add(even, hn::Set(wide, 1)));
    WordVector row[4];  // of each patch
    for (std::size_t i = 0; i < 4; ++i)
      row[i] = kept_bytes(hn::OddEven(hn::BitCast(words, hn::ShiftLeft<32>(of_odd.word[i])),
                                      hn::BitCast(words, of_even.word[i])),
                          of_tile.dropout.threshold);
    // Queries of a group in sequence: rows 0 and 1 of the four patches in turn, then rows 2 and 3.
    alignas(64) std::uint32_t four[4][kLanes];
    hn::Store(hn::InterleaveLower(words, row[0], row[1]), words, four[0]);
    hn::Store(hn::InterleaveUpper(words, row[0], row[1]), words, four[1]);
    hn::Store(hn::InterleaveLower(words, row[2], row[3]), words, four[2]);
    hn::Store(hn::InterleaveUpper(words, row[2], row[3]), words, four[3]);
    for (std::size_t i = 0; i < kAtOnce; ++i)
      for (std::size_t part = 0; part < 4; ++part)
        std::memcpy(flags_[patch + i].data() + to + 4 * part, four[part] + 4 * i, 4 * sizeof(std::uint32_t));
  }
#endif

  std::size_t patches_ = 0, first_ = 0;                           // first_: of the panel, in its first group
  std::array<std::array<std::uint32_t, 4>, kMostPatches> patch_;  // its number, four times
  std::array<std::array<std::uint32_t, kMostQueries>, kMostPatches>
      flags_;  // of a query: a byte for each key
  std::array<std::uint8_t, kKeyBlock> patch_of_key_;
  std::array<std::uint32_t, kKeyBlock> bit_of_key_;
};

// Number in its segment of key `key` of a tile's list.
inline std::uint32_t ordinal_of_key(const TileDropout& of_tile, std::size_t key) {
  return static_cast<std::uint32_t>(of_tile.key_ordinal.empty() ? static_cast<std::int32_t>(key)
                                                                : of_tile.key_ordinal[key]);
}

}  // namespace HWY_NAMESPACE
}  // namespace hilbench
HWY_AFTER_NAMESPACE();

#endif
