// The CUDA forward kernels compared with the oracle.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "tests/kernels/cuda/on_gpu.hpp"

namespace hilbench {
namespace {

enum class Sizes { all, small };

Case random_case(Random& random, Sizes sizes) {
  const auto small = [&] { return between(random, 1, 150); };
  Case work{.sequence_length = one_of<std::int64_t>(
                random, {small(), between(random, 100, 700), between(random, 500, 2100),
                         one_of<std::int64_t>(
                             random, {1, 15, 63, 64, 65, 127, 128, 129, 191, 193, 256, 257, 1000, 4097})}),
            .pattern = {},
            .batch = between(random, 1, 3),
            .heads = between(random, 1, 5),
            .head_dim = one_of<std::int64_t>(random, {64, 128, 64, 128, 32, 80, 96, 120, 192, 216, 256, 40}),
            .dtype = one_of(random, {Dtype::bf16, Dtype::fp16, Dtype::fp32}),
            .mask = one_of(random, {Mask::full, Mask::causal}),
            .queries = one_of(random, {Queries::dilated, Queries::dilated, Queries::dense}),
            .head_offset = one_of(random, {HeadOffset::modulo, HeadOffset::contiguous, HeadOffset::none}),
            .branch_heads = one_of(random, {BranchHeads::all, BranchHeads::all, BranchHeads::partition}),
            .device = DeviceKind::cuda};
  if (sizes == Sizes::small) work.sequence_length = between(random, 100, 300), work.batch = 1;
  work.kv_heads = one_of(random, {work.heads, between(random, 1, work.heads)});
  const std::int64_t n = work.sequence_length;
  for (std::int64_t branches = one_of<std::int64_t>(random, {1, 1, 2, 3}); branches > 0; --branches) {
    const std::int64_t w = one_of(random, {n, between(random, 1, n), between(random, 1, 2 * n)});
    work.pattern.push_back(
        {w, one_of(random, {std::int64_t{1}, std::min<std::int64_t>(w, between(random, 1, 8)),
                            between(random, 1, w)})});
  }
  return work;
}

KernelChoice random_choice(Random& random) {
  KernelChoice choice;
  choice.order = one_of<std::string>(random, {"linear", "linear", "residue", "hilbert", "random", "snake",
                                              "morton", "moore", "bitrev_residue"});
  choice.order_chunk = one_of<std::int64_t>(random, {0, 0, 16, 64});
  choice.order_tensors = one_of(random, {OrderTensors::kv, OrderTensors::qkv});
  choice.key_visit = one_of(random, {KeyVisit::position, KeyVisit::slot});
  choice.rows = one_of(random, {KeyRows::automatic, KeyRows::gathered});
  choice.traversal =
      one_of<std::string>(random, {"auto", "head_major", "head_minor", "sawtooth", "sawtooth_tile", "grouped",
                                   "hilbert", "morton", "longest_first"});
  if (choice.traversal == "grouped" || choice.traversal == "longest_first")
    choice.traversal_param = between(random, 1, 5);
  return choice;
}

// Compares `cases` seeded cases from `first_seed` on; returns the number of comparisons.
int compare_with_oracle(int first_seed, int cases, Sizes sizes, double dropout = 0) {
  const auto device = open_cuda_device(0);
  int compared = 0;
  for (int i = 0; i < cases; ++i) {
    const auto seed = static_cast<std::uint64_t>(first_seed + i);
    Random random(seed);
    Case work = random_case(random, sizes);
    work.dropout = dropout;
    const AttentionProblem problem(work, random);
    const std::int64_t rows = work.batch * work.sequence_length * work.heads;
    const ExpectedRows expected(problem, rows <= 200 ? every_row(work) : sampled_rows(work, random, 48));
    for (const Implementation* implementation : kernels_for(work)) {
      KernelChoice choice = random_choice(random);
      choice.name = implementation->name;
      if (dropout > 0) choice.key_visit = KeyVisit::position;
      SCOPED_TRACE(testing::Message()
                   << "seed " << seed << " " << case_id(work) << " " << variant_id({choice}));
      const std::string mismatch =
          expected.mismatch(work, run_on_gpu(*device, problem, *implementation, choice));
      EXPECT_EQ(mismatch, "");
      ++compared;
    }
  }
  return compared;
}

class CudaForwardProperty : public testing::TestWithParam<int> {};

TEST_P(CudaForwardProperty, EqualsTheOracle) {
  constexpr int kCasesABlock = 50;
  if (!survey().absence.empty()) GTEST_SKIP() << survey().absence;
  EXPECT_GE(compare_with_oracle(GetParam() * kCasesABlock, kCasesABlock, Sizes::all), kCasesABlock);
}

// Few and small cases, for the sanitizers.
TEST(CudaForwardSmall, EqualsTheOracle) {
  if (!survey().absence.empty()) GTEST_SKIP() << survey().absence;
  EXPECT_GE(compare_with_oracle(10000, 12, Sizes::small), 12);
}

TEST(CudaForwardDropout, EqualsTheOracle) {
  if (!survey().absence.empty()) GTEST_SKIP() << survey().absence;
  EXPECT_GE(compare_with_oracle(20000, 25, Sizes::all, 0.125), 25);
  EXPECT_GE(compare_with_oracle(20025, 25, Sizes::small, 0.5), 25);
}

INSTANTIATE_TEST_SUITE_P(Blocks, CudaForwardProperty, testing::Range(0, 8));

TEST(CudaDevice, MovesPartsOfABuffer) {
  if (!survey().absence.empty()) GTEST_SKIP() << survey().absence;
  const auto device = open_cuda_device(0);
  std::vector<std::int32_t> values(1000);
  std::iota(values.begin(), values.end(), 0);
  Buffer buffer = device->allocate(4000);
  device->upload(values.data() + 500, 2000, buffer, 2000);
  device->upload(values.data(), 2000, buffer, 0);
  std::vector<std::int32_t> got(1000), part(10);
  device->download(buffer, got.data());
  EXPECT_EQ(got, values);
  device->download(buffer, 3960, 40, part.data());
  EXPECT_TRUE(std::equal(part.begin(), part.end(), values.end() - 10));
}

class CudaForwardSteep : public testing::TestWithParam<std::tuple<std::int64_t, Dtype, Mask>> {
 protected:
  void SetUp() override {
    if (!survey().absence.empty()) GTEST_SKIP() << survey().absence;
    device_ = open_cuda_device(0);
    std::tie(work.head_dim, work.dtype, work.mask) = GetParam();
  }
  void expect_rows(const AttentionProblem& problem, std::vector<RowId> ids) {
    const ExpectedRows expected(problem, std::move(ids));
    for (const Implementation* implementation : kernels_for(problem.work))
      for (const char* order : {"linear", "hilbert"}) {
        const KernelChoice choice{.name = std::string(implementation->name), .order = order};
        SCOPED_TRACE(testing::Message() << case_id(problem.work) << " " << variant_id({choice}));
        EXPECT_EQ(expected.mismatch(problem.work, run_on_gpu(*device_, problem, *implementation, choice)),
                  "");
      }
  }

  // 1000 positions, in a segment of their own.
  Case work{
      .sequence_length = 1000, .pattern = {{1000, 1}}, .heads = 2, .kv_heads = 2, .device = DeviceKind::cuda};

 private:
  std::unique_ptr<Device> device_;
};

// One key of every 128 has a larger score than all before it, each time at another place of the block: no
// maximum of earlier keys is large enough.
TEST_P(CudaForwardSteep, ScoresMayRise) {
  Random random(11);
  AttentionProblem problem(work, random);
  const auto row = static_cast<std::size_t>(work.head_dim * work.heads);
  for (std::size_t t = 128; t < 1000; ++t) {
    if (t % 128 != t / 128 * 2) continue;
    for (std::size_t i = 0; i < row; ++i) problem.k[t * row + i] *= std::exp2(static_cast<float>(t / 128));
  }
  expect_rows(problem, sampled_rows(work, random, 200));
}

// A few keys exceed all before them by more than fp32 can tell apart, and only for one row in 16: two of them
// in one block, later two alike.
TEST_P(CudaForwardSteep, SingleScoresMayBeHuge) {
  Random random(23);
  AttentionProblem problem(work, random);
  const auto dim = static_cast<std::size_t>(work.head_dim);
  const std::map<std::size_t, float> huge = {{300, 40}, {311, 48}, {700, 200}, {701, 200}, {950, -300}};
  for (std::size_t i = 0; i < 2 * 1000; ++i) {
    problem.q[i * dim] = i / 2 % 16 == 3 ? 64 : 0;
    problem.k[i * dim] = huge.contains(i / 2) ? huge.at(i / 2) : 0;
  }
  expect_rows(problem, sampled_rows(work, random, 2000));
}

// Rows of one warp rise apart: for some, a key exceeds the first block by 2^125 and a later one by 2^129,
// when for others a key exceeds it by more than fp32 holds.
TEST_P(CudaForwardSteep, RowsMayRiseApart) {
  Random random(29);
  AttentionProblem problem(work, random);
  const auto dim = static_cast<std::size_t>(work.head_dim);
  // Exponents of the keys' exponentials, of the first rows and of the others.
  const std::map<std::size_t, std::pair<float, float>> exponents = {
      {5, {44, 44}}, {140, {169, 0}}, {300, {173.4F, 300}}};
  const float unit = std::sqrt(static_cast<float>(work.head_dim)) * std::log(2.0F) / 32;
  for (std::size_t row = 0; row < 2 * 1000; ++row) {
    float* q = &problem.q[row * dim];
    float* k = &problem.k[row * dim];
    if (const std::size_t place = row / 2 % 16; place % 8 == 3 || place % 8 == 5) {
      std::fill(q, q + dim, 0.0F);
      q[place % 8 == 3 ? 0 : 1] = 32;
    }
    const auto found = exponents.find(row / 2);
    const auto [first, other] = found == exponents.end() ? std::pair(0.0F, 0.0F) : found->second;
    k[0] = static_cast<float>(round_to(work.dtype, first * unit));
    k[1] = static_cast<float>(round_to(work.dtype, other * unit));
  }
  expect_rows(problem, sampled_rows(work, random, 2000));
}

INSTANTIATE_TEST_SUITE_P(Tensors, CudaForwardSteep,
                         testing::Combine(testing::Values(40, 64, 80, 96, 104, 128, 192, 256),
                                          testing::Values(Dtype::bf16, Dtype::fp16),
                                          testing::Values(Mask::full, Mask::causal)));

// All scores are 0, so LSE is the logarithm of the number of keys, as exact as fp32 allows.
TEST(CudaForward, FewKeysAreCountedExactly) {
  if (!survey().absence.empty()) GTEST_SKIP() << survey().absence;
  Random random(19);
  const auto device = open_cuda_device(0);
  for (const Dtype dtype : {Dtype::fp32, Dtype::bf16, Dtype::fp16}) {
    Case work{.sequence_length = 300,
              .pattern = {{300, 1}},
              .heads = 1,
              .kv_heads = 1,
              .head_dim = 64,
              .dtype = dtype,
              .mask = Mask::causal,
              .device = DeviceKind::cuda};
    AttentionProblem problem(work, random);
    std::fill(problem.q.begin(), problem.q.end(), 0.0f);
    for (const Implementation* implementation : kernels_for(work)) {
      const KernelChoice choice{.name = std::string(implementation->name), .order = "linear"};
      SCOPED_TRACE(testing::Message() << case_id(work) << " " << variant_id({choice}));
      const AttentionOutput output = run_on_gpu(*device, problem, *implementation, choice);
      for (std::size_t t = 0; t < output.lse.size(); ++t) {
        const double expected = std::log(static_cast<double>(t + 1));
        ASSERT_NEAR(output.lse[t], expected, 0x1p-20 * std::max(1.0, expected)) << t;
      }
    }
  }
}

// Probabilities are kept at any common scale: what they multiply may be small as well.
TEST(CudaForward, ValuesMayBeSmall) {
  if (!survey().absence.empty()) GTEST_SKIP() << survey().absence;
  Random random(17);
  const auto device = open_cuda_device(0);
  for (const std::int64_t head_dim : {64, 88, 128, 256}) {
    Case work{.sequence_length = 1000,
              .pattern = {{1000, 1}},
              .heads = 2,
              .kv_heads = 2,
              .head_dim = head_dim,
              .dtype = Dtype::bf16,
              .device = DeviceKind::cuda};
    AttentionProblem problem(work, random);
    for (float& value : problem.v) value *= 0x1p-40f;
    const ExpectedRows expected(problem, sampled_rows(work, random, 200));
    for (const Implementation* implementation : kernels_for(work)) {
      const KernelChoice choice{.name = std::string(implementation->name), .order = "linear"};
      SCOPED_TRACE(testing::Message() << case_id(work) << " " << variant_id({choice}));
      EXPECT_EQ(expected.mismatch(work, run_on_gpu(*device, problem, *implementation, choice)), "");
    }
  }
}

class CudaForwardLong : public testing::TestWithParam<Dtype> {};

// All scores are equal, so the first block has the maximum, and later ones must leave earlier sums as they
// are.
TEST_P(CudaForwardLong, KeepsItsSums) {
  if (!survey().absence.empty()) GTEST_SKIP() << survey().absence;
  Random random(3);
  const auto device = open_cuda_device(0);
  const Case work{.sequence_length = 65536,
                  .pattern = {{65536, 1}},
                  .heads = 1,
                  .kv_heads = 1,
                  .head_dim = 64,
                  .dtype = GetParam(),
                  .device = DeviceKind::cuda};
  AttentionProblem problem(work, random);
  for (const float key : {0.5f, 1.171875f, 2.40625f}) {
    std::fill(problem.q.begin(), problem.q.end(), 0.5f);
    std::fill(problem.k.begin(), problem.k.end(), key);
    const double expected = 4.0 * key + std::log(65536.0);  // 64 / 8 * 0.5 * key
    for (const Implementation* implementation : kernels_for(work)) {
      const KernelChoice choice{.name = std::string(implementation->name), .order = "linear"};
      SCOPED_TRACE(testing::Message() << case_id(work) << " " << variant_id({choice}) << " " << key);
      const AttentionOutput output = run_on_gpu(*device, problem, *implementation, choice);
      double error = 0;
      for (const float lse : output.lse) error = std::max(error, std::abs(lse - expected));
      EXPECT_LT(error, 1e-5);  // five roundings of fp32
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Tensors, CudaForwardLong, testing::Values(Dtype::fp32, Dtype::bf16, Dtype::fp16));

TEST(CudaForward, NothingOutsideTheOutputIsWritten) {
  if (!survey().absence.empty()) GTEST_SKIP() << survey().absence;
  Random random(5);
  const auto device = open_cuda_device(0);
  Case work{.sequence_length = 333,
            .pattern = {{100, 3}},
            .heads = 3,
            .kv_heads = 3,
            .head_dim = 64,
            .dtype = Dtype::bf16,
            .device = DeviceKind::cuda};
  const AttentionProblem problem(work, random);
  constexpr std::size_t kGuard = 4096;
  const std::size_t o_bytes = problem.q.size() * 2, lse_bytes = problem.q.size() / 64 * 4;
  for (const Implementation* implementation : kernels_for(work)) {
    const KernelChoice choice{.name = std::string(implementation->name)};
    const Index index = build_index(work, choice, implementation->tile_rows(work));
    const Buffer q = on_device(*device, problem.q, work, 3, {}),
                 k = on_device(*device, problem.k, work, 3, {}),
                 v = on_device(*device, problem.v, work, 3, {});
    Buffer o = device->allocate(o_bytes + 2 * kGuard), lse = device->allocate(lse_bytes + 2 * kGuard);
    device->fill(o, std::byte{0xa5});
    device->fill(lse, std::byte{0xa5});
    const auto execution = implementation->prepare(work, choice, 1);
    execution->load(index);
    execution->run({q.data(), k.data(), v.data(), static_cast<std::byte*>(o.data()) + kGuard,
                    reinterpret_cast<float*>(static_cast<std::byte*>(lse.data()) + kGuard)},
                   index);
    device->synchronize();
    for (const Buffer* buffer : {&o, &lse}) {
      std::vector<std::byte> raw(buffer->bytes);
      device->download(*buffer, raw.data());
      for (std::size_t i = 0; i < kGuard; ++i) {
        ASSERT_EQ(raw[i], std::byte{0xa5}) << implementation->name << " before, byte " << i;
        ASSERT_EQ(raw[raw.size() - 1 - i], std::byte{0xa5}) << implementation->name << " behind, byte " << i;
      }
    }
  }
}

}  // namespace
}  // namespace hilbench
