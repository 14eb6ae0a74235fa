#include "harness/measure/inputs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <vector>

#include "baselines/reference.hpp"
#include "harness/measure/random_values.hpp"
#include "kernels/base/files/npy.hpp"
#include "kernels/case/pattern.hpp"
#include "kernels/case/rounding.hpp"
#include "tests/harness/measure/whole_tensor.hpp"

namespace hilbench {
namespace {

Case small_case(Dtype dtype) {
  return {.sequence_length = 1000, .heads = 4, .kv_heads = 2, .head_dim = 32, .dtype = dtype};
}

std::vector<float> stored(const InputTensors& inputs, Tensor which, Dtype dtype, int threads) {
  const std::int64_t size = inputs.size(which);
  std::vector<std::byte> bytes(static_cast<std::size_t>(size * dtype_bytes(dtype)));
  inputs.read_stored(which, 0, size, bytes.data(), threads);
  std::vector<float> values(static_cast<std::size_t>(size));
  widen(dtype, bytes.data(), values);
  return values;
}

TEST(RandomValues, AreThoseOfTheScalarFormulaInEveryBit) {
  for (const std::uint64_t key : {mix(mix(1) + 1), mix(mix(1) + 3), ~std::uint64_t{0}}) {
    std::vector<float> values(1'000'003);
    const std::uint64_t first = key % 1000;
    random_values(key, first, values);
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(std::bit_cast<std::uint32_t>(values[i]),
                std::bit_cast<std::uint32_t>(random_value(key, first + i)))
          << i;
  }
}

TEST(RandomValues, HaveNoOutliersWhereNoneAreAskedFor) {
  std::vector<float> values(200'001);
  random_values(3, 17, values, Distribution::normal);
  double squares = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(values[i], random_value(3, 17 + i, Distribution::normal)) << i;
    ASSERT_LT(std::abs(values[i]), 6);
    squares += double{values[i]} * values[i];
  }
  EXPECT_NEAR(squares / 200'001, 1, 0.02);
}

// Quantiles of Student's t with 3 degrees of freedom, which are 0.76489, 2.35336 and 10.21453, over the root
// of 3. Its fourth moment is infinite, so its variance is estimated badly.
TEST(RandomValues, OfHeavyTailsAreStudents) {
  std::vector<float> values(1'000'000);
  random_values(3, 17, values, Distribution::student3);
  const auto share_below = [&](double limit) {
    return static_cast<double>(std::count_if(values.begin(), values.end(),
                                             [&](float value) { return value < limit / std::sqrt(3.0); })) /
           1e6;
  };
  EXPECT_NEAR(share_below(0), 0.5, 0.002);
  EXPECT_NEAR(share_below(0.76489), 0.75, 0.002);
  EXPECT_NEAR(share_below(-0.76489), 0.25, 0.002);
  EXPECT_NEAR(share_below(2.35336), 0.95, 0.001);
  EXPECT_NEAR(share_below(10.21453), 0.999, 0.0002);
  double squares = 0;
  for (const float value : values) squares += double{value} * value;
  EXPECT_NEAR(squares / 1e6, 1, 0.1);
}

TEST(RandomValues, CountPast32Bits) {
  std::vector<float> values(9);
  const std::uint64_t first = (std::uint64_t{1} << 33) - 4;
  random_values(5, first, values);
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], random_value(5, first + i));
}

TEST(Inputs, DependOnTheSeedAndNotOnTheThreads) {
  const InputTensors one(small_case(Dtype::fp32), {}, 7), other(small_case(Dtype::fp32), {}, 8);
  EXPECT_EQ(whole(one, Tensor::q), stored(one, Tensor::q, Dtype::fp32, 3));
  EXPECT_NE(whole(one, Tensor::q), whole(other, Tensor::q));
  EXPECT_NE(whole(one, Tensor::k), whole(one, Tensor::v));
  EXPECT_EQ(one.size(Tensor::q), 1000 * 4 * 32);
  EXPECT_EQ(one.size(Tensor::k), 1000 * 2 * 32);
}

// Published records were measured with these values.
TEST(Inputs, StayTheSameFromVersionToVersion) {
  const std::vector<float> q = whole(InputTensors(small_case(Dtype::fp32), {}, 1), Tensor::q);
  const std::vector<float> first(q.begin(), q.begin() + 4);
  EXPECT_EQ(first, (std::vector<float>{-0.597954452f, 0.870222926f, -0.0599724203f, 2.20837426f}));
}

TEST(Inputs, AreTheSameReadInParts) {
  for (const Dtype dtype : {Dtype::fp32, Dtype::bf16, Dtype::fp16}) {
    const InputTensors inputs(small_case(dtype), {}, 7);
    const std::vector<float> all = whole(inputs, Tensor::v);
    EXPECT_EQ(all, stored(inputs, Tensor::v, dtype, 2));
    for (const std::int64_t first : {0, 1, 63, 40001}) {
      std::vector<float> part(777);
      inputs.read(Tensor::v, first, part);
      EXPECT_TRUE(std::equal(part.begin(), part.end(), all.begin() + first)) << first;
      std::vector<std::byte> bytes(777 * static_cast<std::size_t>(dtype_bytes(dtype)));
      inputs.read_stored(Tensor::v, first, 777, bytes.data(), 3);
      widen(dtype, bytes.data(), part);
      EXPECT_TRUE(std::equal(part.begin(), part.end(), all.begin() + first)) << first;
    }
  }
}

// Rows that were kept, rows that are not yet, and both in one read; the last block of a tensor is short.
TEST(Inputs, AreTheSameWhenTheyAreKept) {
  for (const Dtype dtype : {Dtype::fp32, Dtype::bf16, Dtype::fp16}) {
    const InputTensors plain(small_case(dtype), {}, 7);
    InputTensors kept(small_case(dtype), {}, 7);
    kept.keep();
    EXPECT_EQ(kept.stored_bytes(), static_cast<double>((128'000 + 2 * 64'000) * dtype_bytes(dtype)));
    const std::vector<float> all = whole(plain, Tensor::k);
    for (int round = 0; round < 2; ++round)  // first computed, then kept
      for (const std::int64_t first : {63'000, 1000, 0, 40'001, 5}) {
        std::vector<float> part(static_cast<std::size_t>(std::min<std::int64_t>(6000, 64'000 - first)));
        kept.read(Tensor::k, first, part);
        EXPECT_TRUE(std::equal(part.begin(), part.end(), all.begin() + first)) << first;
        std::vector<std::byte> bytes(part.size() * static_cast<std::size_t>(dtype_bytes(dtype)));
        kept.read_stored(Tensor::k, first, std::ssize(part), bytes.data(), 3);
        widen(dtype, bytes.data(), part);
        EXPECT_TRUE(std::equal(part.begin(), part.end(), all.begin() + first)) << first;
      }
    EXPECT_EQ(stored(kept, Tensor::q, dtype, 4), whole(plain, Tensor::q));
    EXPECT_EQ(stored(kept, Tensor::q, dtype, 4), whole(plain, Tensor::q));
  }
}

TEST(KeptElements, AreComputedOnceByWhoReadsAWholeBlock) {
  constexpr std::int64_t kBlock = KeptElements::kBlock;
  std::vector<std::int64_t> computed;  // the first element of each computation
  const auto compute = [&](std::int64_t first, std::span<float> to) {
    computed.push_back(first);
    for (std::size_t i = 0; i < to.size(); ++i)
      to[i] = static_cast<float>((first + static_cast<std::int64_t>(i)) % 7);
  };
  KeptElements kept(Dtype::bf16, 3 * kBlock + 10);
  std::vector<float> part(2 * kBlock);
  std::vector<std::byte> bytes(2 * 2 * kBlock);
  kept.read(10, part, compute);  // one whole block, and parts of two
  EXPECT_EQ(computed, (std::vector<std::int64_t>{10, kBlock, 2 * kBlock}));
  EXPECT_TRUE(kept.copy_stored(kBlock, kBlock, bytes.data()));
  EXPECT_FALSE(kept.copy_stored(kBlock - 1, kBlock, bytes.data()));
  kept.read(kBlock + 5, std::span(part).first(100), compute);
  EXPECT_EQ(computed.size(), 3u);
  for (std::int64_t i = 0; i < 100; ++i)
    EXPECT_EQ(part[static_cast<std::size_t>(i)], static_cast<float>((kBlock + 5 + i) % 7));
  kept.read(3 * kBlock, std::span(part).first(10), compute);  // the last, which is short
  EXPECT_TRUE(kept.copy_stored(3 * kBlock + 2, 8, bytes.data()));
  EXPECT_FALSE(kept.copy_stored(0, 1, bytes.data()));
}

// However they are read; and the bytes of a query are 0, as Bench fills them.
TEST(Inputs, OfTheKeyProbeAreSignsAndQueriesOfZero) {
  for (const Dtype dtype : {Dtype::fp32, Dtype::bf16, Dtype::fp16}) {
    const InputTensors inputs = InputTensors::key_probe(small_case(dtype), 7);
    const std::vector<float> all = whole(inputs, Tensor::v);
    EXPECT_EQ(all, stored(inputs, Tensor::v, dtype, 2));
    const auto positive = static_cast<double>(std::count(all.begin(), all.end(), 1.0f));
    EXPECT_EQ(positive + static_cast<double>(std::count(all.begin(), all.end(), -1.0f)),
              static_cast<double>(all.size()));
    EXPECT_NEAR(positive / static_cast<double>(all.size()), 0.5, 0.01);
    for (const std::int64_t first : {0, 1, 7, 61, 64, 40001})
      for (const std::size_t count : {1, 5, 8, 70, 200}) {
        std::vector<float> part(count);
        inputs.read(Tensor::v, first, part);
        EXPECT_TRUE(std::equal(part.begin(), part.end(), all.begin() + first)) << first << " " << count;
      }
    std::vector<std::byte> bytes(static_cast<std::size_t>(777 * dtype_bytes(dtype)), std::byte{1});
    inputs.read_stored(Tensor::q, 3, 777, bytes.data(), 2);
    EXPECT_EQ(bytes, std::vector<std::byte>(bytes.size()));
  }
}

TEST(Inputs, PartsCoverATensorInWholeUnits) {
  std::int64_t next = 0, parts = 0;
  for_each_part(3 * kPartElements, 192, [&](std::int64_t first, std::int64_t count) {
    EXPECT_EQ(first, next);
    EXPECT_EQ(count % 192, 0);
    EXPECT_LE(count, kPartElements);
    next += count;
    ++parts;
  });
  EXPECT_EQ(next, 3 * kPartElements);
  EXPECT_EQ(parts, 4);
  for_each_part(2 * kPartElements, 2 * kPartElements,
                [&](std::int64_t, std::int64_t count) { EXPECT_EQ(count, 2 * kPartElements); });
}

TEST(Inputs, AreNormalWithOneOutlierInAThousand) {
  const std::vector<float> q = whole(InputTensors(small_case(Dtype::fp32), {}, 1), Tensor::q);
  double sum = 0, squares = 0;
  std::size_t large = 0;
  for (const float value : q) {
    sum += value;
    squares += double{value} * value;
    if (std::abs(value) > 6) ++large;
  }
  const auto count = static_cast<double>(q.size());
  EXPECT_NEAR(sum / count, 0.0, 0.02);
  EXPECT_NEAR(squares / count, 1.0 + 0.001 * 99, 0.05);
  // |N(0, 100)| > 6 with probability 0.549; N(0, 1) hardly ever.
  EXPECT_NEAR(static_cast<double>(large) / count, 0.000549, 0.0002);
}

constexpr DataKind kKinds[] = {DataKind::normal, DataKind::heavy_tails, DataKind::dominating_key,
                               DataKind::equal_rows};

TEST(Inputs, AreRoundedToTheDtypeAndFinite) {
  for (const Dtype dtype : {Dtype::bf16, Dtype::fp16})
    for (const DataKind data : kKinds)
      for (const Tensor which : {Tensor::q, Tensor::k, Tensor::v}) {
        Case work = small_case(dtype);
        work.data = data;
        work.score_scale = 1000;
        for (const float value : whole(InputTensors(work, {}, 1), which)) {
          ASSERT_TRUE(std::isfinite(value));
          ASSERT_EQ(value, round_to(dtype, value));
        }
      }
}

TEST(Inputs, OfEveryKindDependOnTheSeedAndNotOnHowTheyAreRead) {
  for (const DataKind data : kKinds) {
    for (const Tensor which : {Tensor::q, Tensor::k, Tensor::v}) {
      Case work = small_case(Dtype::fp32);
      work.data = data;
      work.score_scale = 3;
      const InputTensors inputs(work, {}, 7);
      const std::vector<float> all = whole(inputs, which);
      EXPECT_EQ(all, whole(InputTensors(work, {}, 7), which));
      EXPECT_NE(all, whole(InputTensors(work, {}, 8), which));
      EXPECT_EQ(all, stored(inputs, which, Dtype::fp32, 3));
      for (const std::int64_t first : {1, 31, 32, 63, 40001}) {
        std::vector<float> part(777);
        inputs.read(which, first, part);
        ASSERT_TRUE(std::equal(part.begin(), part.end(), all.begin() + first)) << first;
      }
    }
  }
}

TEST(Inputs, AScaleMultipliesQAlone) {
  for (const DataKind data : kKinds) {
    Case work = small_case(Dtype::fp32);
    work.data = data;
    const InputTensors plain(work, {}, 7);
    work.score_scale = 4;
    const InputTensors scaled(work, {}, 7);
    std::vector<float> q = whole(plain, Tensor::q);
    for (float& value : q) value *= 4;
    EXPECT_EQ(whole(scaled, Tensor::q), q);
    EXPECT_EQ(whole(scaled, Tensor::k), whole(plain, Tensor::k));
    EXPECT_EQ(whole(scaled, Tensor::v), whole(plain, Tensor::v));
  }
}

TEST(Inputs, ScoresVaryByTheScale) {
  for (const double scale : {1.0, 10.0}) {
    for (const DataKind data : {DataKind::normal, DataKind::heavy_tails, DataKind::equal_rows}) {
      Case work = small_case(Dtype::fp32);
      work.heads = work.kv_heads = 1;
      work.score_scale = scale;
      work.data = data;
      const InputTensors inputs(work, {}, 7);
      const std::vector<float> q = whole(inputs, Tensor::q), k = whole(inputs, Tensor::k);
      double squares = 0;
      for (std::size_t row = 0; row < 1000; ++row)
        for (std::size_t key = 0; key < 1000; ++key) {
          double score = 0;
          for (std::size_t d = 0; d < 32; ++d) score += double{q[row * 32 + d]} * k[key * 32 + d];
          squares += score * score / 32;
        }
      EXPECT_NEAR(std::sqrt(squares / 1e6), scale, 0.25 * scale);
    }
  }
}

// The share of the softmax that the dominating keys hold of each branch of each row.
TEST(Inputs, DominatingKeysDominateEveryRowOfEveryBranch) {
  const std::vector<std::vector<Branch>> patterns = {
      {{1000, 1}}, {{128, 1}, {300, 4}}, {{64, 16}}, {{2000, 7}}};
  for (const std::vector<Branch>& pattern : patterns)
    for (const Mask mask : {Mask::full, Mask::causal})
      for (const double scale : {1.0, 4.0}) {
        Case work = small_case(Dtype::fp32);
        work.pattern = pattern;
        work.mask = mask;
        work.score_scale = scale;
        work.data = DataKind::dominating_key;
        const InputTensors inputs(work, {}, 7);
        const std::vector<float> q = whole(inputs, Tensor::q), k = whole(inputs, Tensor::k);
        const auto score = [&](std::int64_t position, std::int64_t head, std::int64_t key) {
          double sum = 0;
          for (std::int64_t d = 0; d < 32; ++d)
            sum += double{q[static_cast<std::size_t>((position * 4 + head) * 32 + d)]} *
                   k[static_cast<std::size_t>((key * 2 + kv_head_of(work, head)) * 32 + d)];
          return sum / std::sqrt(32.0);
        };
        std::int64_t dominating = 0;
        for (std::int64_t key = 0; key < 2000; ++key)
          dominating += inputs.dominates(key / 2, key % 2) ? 1 : 0;
        std::int64_t segments = 0;
        for (const Branch& branch : pattern) segments += 2 * segment_count(work, branch);
        EXPECT_LE(dominating, segments);
        for (std::int64_t row = 0; row < 4000; row += 37)
          for (std::int64_t b = 0; b < std::ssize(pattern); ++b) {
            const std::vector<std::int64_t> keys = visible_keys(work, row % 4, b, row / 4);
            if (keys.empty()) continue;
            double all = 0, theirs = 0;
            for (const std::int64_t key : keys) {
              const double found = score(row / 4, row % 4, key);
              const bool dominates = inputs.dominates(key, kv_head_of(work, row % 4));
              EXPECT_NEAR(found, dominates ? scale * InputTensors::kDominance : 0, 7 * scale);
              const double weight = std::exp(found - scale * InputTensors::kDominance);
              all += weight;
              if (dominates) theirs += weight;
            }
            ASSERT_GT(theirs / all, 0.99) << case_id(work) << ", row " << row << ", branch " << b;
          }
      }
}

TEST(Inputs, EqualRowsOfKGiveAQueryOneScore) {
  for (const Dtype dtype : {Dtype::fp32, Dtype::bf16, Dtype::fp16}) {
    Case work = small_case(dtype);
    const InputTensors normal(work, {}, 7);
    work.data = DataKind::equal_rows;
    const InputTensors inputs(work, {}, 7);
    const std::vector<float> k = whole(inputs, Tensor::k);
    double square = 0;
    for (std::size_t i = 0; i < 32; ++i) square += double{k[i]} * k[i];
    EXPECT_NEAR(square / 32, 1, 0.01);
    for (std::size_t i = 32; i < k.size(); ++i) ASSERT_EQ(k[i], k[i - 32]);
    EXPECT_EQ(whole(inputs, Tensor::q), whole(normal, Tensor::q));
    EXPECT_EQ(whole(inputs, Tensor::v), whole(normal, Tensor::v));
  }
}

TEST(Inputs, ComeFromFilesWhereAsked) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "inputs_test";
  std::filesystem::create_directories(folder);
  const Case work{.sequence_length = 3, .heads = 1, .kv_heads = 1, .head_dim = 2};
  const std::vector<std::int64_t> shape = {1, 3, 1, 2};
  for (const char* name : {"q.npy", "k.npy", "v.npy"})
    write_npy(folder / name, shape, std::vector<float>{1, 2, 3, 4, 5, static_cast<float>(name[0])});
  const Inputs inputs{InputSource::npy, folder / "q.npy", folder / "k.npy", folder / "v.npy"};
  const InputTensors tensors(work, inputs, 1);
  EXPECT_EQ(whole(tensors, Tensor::q), (std::vector<float>{1, 2, 3, 4, 5, 'q'}));
  EXPECT_EQ(stored(tensors, Tensor::v, Dtype::fp32, 2), (std::vector<float>{1, 2, 3, 4, 5, 'v'}));
}

}  // namespace
}  // namespace hilbench
