#include "harness/measure/inputs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <vector>

#include "harness/measure/random_values.hpp"
#include "kernels/base/npy.hpp"
#include "kernels/case/rounding.hpp"

namespace hilbench {
namespace {

Case small_case(Dtype dtype) {
  return {.sequence_length = 1000, .heads = 4, .kv_heads = 2, .head_dim = 32, .dtype = dtype};
}

std::vector<float> whole(const InputTensors& inputs, Tensor which) {
  std::vector<float> values(static_cast<std::size_t>(inputs.size(which)));
  inputs.read(which, 0, values);
  return values;
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

TEST(Inputs, AreRoundedToTheDtype) {
  for (const float value : whole(InputTensors(small_case(Dtype::bf16), {}, 1), Tensor::k))
    ASSERT_EQ(value, round_to(Dtype::bf16, value));
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
