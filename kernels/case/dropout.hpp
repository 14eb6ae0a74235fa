// Dropout (docs/definitions.md): which (query, key) pairs of a branch are kept. It depends on where the pair
// stands in its segment and on nothing else: not on orders, tiles, or the pass. C++17 and no fmt, as every
// header that .cu files include.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define HILBENCH_HOST_DEVICE __host__ __device__
#else
#define HILBENCH_HOST_DEVICE
#endif

namespace hilbench {

// Four random words of a counter and a key: Philox4x32 (Salmon, Moraes, Dror, Shaw: Parallel random numbers:
// as easy as 1, 2, 3. SC 2011, section 3.3).
struct PhiloxWords {
  std::uint32_t word[4];
};

inline constexpr std::uint32_t kPhiloxFactor0 = 0xD2511F53, kPhiloxFactor1 = 0xCD9E8D57;
inline constexpr std::uint32_t kPhiloxStep0 = 0x9E3779B9, kPhiloxStep1 = 0xBB67AE85;  // of the key, a round
// 7 rounds pass BigCrush (Table 2 of the paper); the authors take 10.
inline constexpr int kDropoutRounds = 7;

template <int kRounds>
HILBENCH_HOST_DEVICE inline PhiloxWords philox(PhiloxWords counter, std::uint32_t key_0,
                                               std::uint32_t key_1) {
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t first = std::uint64_t{kPhiloxFactor0} * counter.word[0];
    const std::uint64_t second = std::uint64_t{kPhiloxFactor1} * counter.word[2];
    counter = {{static_cast<std::uint32_t>(second >> 32) ^ counter.word[1] ^ key_0,
                static_cast<std::uint32_t>(second),
                static_cast<std::uint32_t>(first >> 32) ^ counter.word[3] ^ key_1,
                static_cast<std::uint32_t>(first)}};
    key_0 += kPhiloxStep0;
    key_1 += kPhiloxStep1;
  }
  return counter;
}

// Of a case. A pair whose byte is below `threshold` is kept, and its probability multiplied with `scale` =
// 256 / threshold, so that the expected output is that without dropout, exactly.
struct Dropout {
  std::uint32_t threshold = 256;  // 1 .. 256; 256: every pair is kept
  float scale = 1;
  std::uint32_t key_0 = 0, key_1 = 0;  // of Philox: the seed's lower and upper half
};

HILBENCH_HOST_DEVICE inline bool drops(const Dropout& dropout) {
  return dropout.threshold < 256;
}

// What tells the random bytes of one (batch entry, head, branch, segment) from those of all others.
struct DropoutStream {
  std::uint32_t segment = 0;
  std::uint32_t number = 0;  // (batch * heads + head) * branches + branch
};

// Queries and keys are numbered from 0 in their segment: among its queries, and among its selected keys. One
// call of Philox serves a patch of 4 x 4 pairs: queries 2a, 2a + 1, 2a + 8 and 2a + 9 of 16, and the same of
// keys, because tensor cores leave these pairs of their results in neighbouring threads.
HILBENCH_HOST_DEVICE inline std::uint32_t dropout_patch(std::uint32_t ordinal) {
  return ordinal / 16 * 8 + ordinal % 8 / 2;
}
// Row or column in the patch.
HILBENCH_HOST_DEVICE inline std::uint32_t dropout_place(std::uint32_t ordinal) {
  return (ordinal & 1) + 2 * (ordinal >> 3 & 1);
}

// Word i holds the bytes of row (query) i of the patch, the lowest byte that of column (key) 0.
HILBENCH_HOST_DEVICE inline PhiloxWords dropout_words(const Dropout& dropout, const DropoutStream& stream,
                                                      std::uint32_t query_patch, std::uint32_t key_patch) {
  return philox<kDropoutRounds>({{query_patch, key_patch, stream.segment, stream.number}}, dropout.key_0,
                                dropout.key_1);
}

HILBENCH_HOST_DEVICE inline bool keeps_pair(const Dropout& dropout, const DropoutStream& stream,
                                            std::uint32_t query, std::uint32_t key) {
  const PhiloxWords words = dropout_words(dropout, stream, dropout_patch(query), dropout_patch(key));
  const std::uint32_t byte = words.word[dropout_place(query)] >> 8 * dropout_place(key) & 255;
  return byte < dropout.threshold;
}

}  // namespace hilbench
