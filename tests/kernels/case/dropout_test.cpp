#include "kernels/case/dropout.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>
#include <tuple>

#include "kernels/case/pattern.hpp"

namespace hilbench {
namespace {

template <int kRounds>
std::array<std::uint32_t, 4> philox_of(PhiloxWords counter, std::uint32_t key_0, std::uint32_t key_1) {
  const PhiloxWords words = philox<kRounds>(counter, key_0, key_1);
  return {words.word[0], words.word[1], words.word[2], words.word[3]};
}
using FourWords = std::array<std::uint32_t, 4>;

// The known answers of Random123, the authors' library.
TEST(Philox, GivesThePublishedWords) {
  constexpr std::uint32_t kOnes = 0xffffffff;
  const PhiloxWords zeros = {{0, 0, 0, 0}}, ones = {{kOnes, kOnes, kOnes, kOnes}};
  const PhiloxWords pi = {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}};
  EXPECT_EQ(philox_of<10>(zeros, 0, 0), (FourWords{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox_of<10>(ones, kOnes, kOnes), (FourWords{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox_of<10>(pi, 0xa4093822, 0x299f31d0),
            (FourWords{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
  EXPECT_EQ(philox_of<7>(zeros, 0, 0), (FourWords{0x5f6fb709, 0x0d893f64, 0x4f121f81, 0x4f730a48}));
}

Case dropped_case(double dropout, std::int64_t seed = 0) {
  Case work{.sequence_length = 512, .pattern = {{512, 1}}, .heads = 1, .kv_heads = 1};
  work.dropout = dropout, work.dropout_seed = seed;
  return work;
}

TEST(Dropout, ThresholdsAndScalesAreExact) {
  EXPECT_FALSE(drops(dropout_of(dropped_case(0))));
  EXPECT_FALSE(drops(dropout_of(dropped_case(0.001)))) << "less than half a step of 1/256";
  EXPECT_EQ(dropout_of(dropped_case(0.125)).threshold, 224u);
  EXPECT_EQ(dropout_of(dropped_case(0.125)).scale, 256.0f / 224);
  EXPECT_EQ(dropout_of(dropped_case(0.5)).scale, 2);
  EXPECT_EQ(dropout_of(dropped_case(0.9999)).threshold, 1u) << "some pairs are kept";
  const Dropout dropout = dropout_of(dropped_case(0.5, 0x123456789abcdef));
  EXPECT_EQ(dropout.key_0, 0x89abcdefu);
  EXPECT_EQ(dropout.key_1, 0x1234567u);
}

// Each pair has a byte of its own.
TEST(Dropout, NoTwoPairsShareAByte) {
  std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>> places;
  for (std::uint32_t query = 0; query < 64; ++query)
    for (std::uint32_t key = 0; key < 64; ++key)
      places.insert({dropout_patch(query), dropout_patch(key), dropout_place(query), dropout_place(key)});
  EXPECT_EQ(places.size(), 64u * 64);
}

std::vector<float> factors_of(const Case& work, std::int64_t batch, std::int64_t head, std::int64_t branch) {
  std::vector<float> factors;
  for (std::int64_t query = 0; query < work.sequence_length; ++query)
    for (std::int64_t key = 0; key < work.sequence_length; ++key)
      if (query / work.pattern[static_cast<std::size_t>(branch)].segment_length ==
          key / work.pattern[static_cast<std::size_t>(branch)].segment_length)
        factors.push_back(kept_factor(work, batch, head, branch, query, key));
  return factors;
}

// Shares of kept pairs within 4 sigma, over all pairs and in every row and column.
TEST(Dropout, KeepsTheShareThatItShould) {
  for (const double p : {0.1, 0.125, 0.5, 0.9}) {
    const Case work = dropped_case(p, 7);
    const double share = dropout_of(work).threshold / 256.0;
    const std::vector<float> factors = factors_of(work, 0, 0, 0);
    std::vector<double> of_query(512), of_key(512);
    double all = 0, mean = 0;
    for (std::size_t i = 0; i < factors.size(); ++i) {
      const double kept = factors[i] > 0 ? 1 : 0;
      all += kept, of_query[i / 512] += kept, of_key[i % 512] += kept;
      mean += factors[i];
    }
    const double sigma = std::sqrt(share * (1 - share));
    EXPECT_NEAR(all / 512 / 512, share, 4 * sigma / 512) << p;
    EXPECT_NEAR(mean / 512 / 512, 1, 4 * sigma / share / 512) << "the expectation is that without dropout";
    for (std::size_t i = 0; i < 512; ++i) {
      EXPECT_NEAR(of_query[i] / 512, share, 5 * sigma / std::sqrt(512)) << p << " " << i;
      EXPECT_NEAR(of_key[i] / 512, share, 5 * sigma / std::sqrt(512)) << p << " " << i;
    }
  }
}

// Heads, batch entries, branches, segments and seeds are independent of each other, and so are a pair and the
// one with its places exchanged.
TEST(Dropout, StreamsDiffer) {
  Case work{.sequence_length = 256, .pattern = {{128, 1}, {128, 1}}, .batch = 2, .heads = 2, .kv_heads = 1};
  work.dropout = 0.5;
  const auto agree = [](const std::vector<float>& a, const std::vector<float>& b) {
    double same = 0;
    for (std::size_t i = 0; i < a.size(); ++i) same += a[i] == b[i] ? 1 : 0;
    return same / static_cast<double>(a.size());
  };
  const std::vector<float> first = factors_of(work, 0, 0, 0);
  const double within = 4 * 0.5 / std::sqrt(static_cast<double>(first.size()));
  EXPECT_NEAR(agree(first, factors_of(work, 1, 0, 0)), 0.5, within);
  EXPECT_NEAR(agree(first, factors_of(work, 0, 1, 0)), 0.5, within);
  EXPECT_NEAR(agree(first, factors_of(work, 0, 0, 1)), 0.5, within);
  const std::size_t half = first.size() / 2;  // the segments
  EXPECT_NEAR(agree({first.begin(), first.begin() + static_cast<std::ptrdiff_t>(half)},
                    {first.begin() + static_cast<std::ptrdiff_t>(half), first.end()}),
              0.5, 2 * within);
  std::vector<float> transposed(half);
  for (std::size_t i = 0; i < 128; ++i)
    for (std::size_t j = 0; j < 128; ++j) transposed[i * 128 + j] = first[j * 128 + i];
  EXPECT_NEAR(agree({first.begin(), first.begin() + static_cast<std::ptrdiff_t>(half)}, transposed), 0.5,
              2 * within);
  work.dropout_seed = std::int64_t{1} << 40;
  EXPECT_NEAR(agree(first, factors_of(work, 0, 0, 0)), 0.5, within);
}

// What a pair is depends on the numbers of its query and key among those of the segment.
TEST(Dropout, NumbersQueriesAndKeysInTheirSegment) {
  Case work{.sequence_length = 100, .pattern = {{40, 4}}, .heads = 3, .kv_heads = 3};
  EXPECT_EQ(key_ordinal(work, 0, 40 + 2 + 3 * 4), 3);
  EXPECT_EQ(query_ordinal(work, 0, 40 + 2 + 3 * 4), 3);
  work.queries = Queries::dense;
  EXPECT_EQ(query_ordinal(work, 0, 40 + 2 + 3 * 4), 14);
  EXPECT_EQ(key_ordinal(work, 0, 40 + 2 + 3 * 4), 3);
}

}  // namespace
}  // namespace hilbench
