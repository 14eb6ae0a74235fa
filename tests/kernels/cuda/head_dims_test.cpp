// Every head_dim that dilated_wgmma is compiled for, and sizes between, which run in the next larger one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include "tests/kernels/cuda/on_gpu.hpp"

namespace hilbench {
namespace {

constexpr std::int64_t kWgmmaHeadDims[] = {32, 40, 64, 72, 80, 88, 96, 104, 128, 136, 184, 192, 200, 256};

class CudaHeadDims : public testing::TestWithParam<std::tuple<std::int64_t, Dtype>> {
 protected:
  void SetUp() override {
    if (!survey().absence.empty()) GTEST_SKIP() << survey().absence;
    if (const auto reason = why_not(kernel_, case_of(64, Mask::full),
                                    {choice_of("linear", KeyRows::automatic)}, &survey().gpus.front()))
      GTEST_SKIP() << *reason;
  }

  static Case case_of(std::int64_t length, Mask mask) {
    Case work{.sequence_length = length,
              .pattern = {{length, 1}},
              .heads = 4,
              .kv_heads = 2,
              .mask = mask,
              .device = DeviceKind::cuda};
    std::tie(work.head_dim, work.dtype) = GetParam();
    return work;
  }

  static KernelChoice choice_of(const char* order, KeyRows rows) {
    KernelChoice choice{.name = "dilated_wgmma", .order = order};
    choice.rows = rows;
    return choice;
  }

  AttentionOutput run(const AttentionProblem& problem, const KernelChoice& choice) {
    return run_on_gpu(*device_, problem, kernel_, choice);
  }

  // The same problem for all of them, since drawing one takes far longer than to compute it.
  void expect_equal_to_the_oracle(const Case& work, const std::vector<KernelChoice>& choices) {
    const AttentionProblem problem(work, random_);
    const ExpectedRows expected(problem, sampled_rows(work, random_, 64));
    for (const KernelChoice& choice : choices) {
      SCOPED_TRACE(testing::Message() << case_id(work) << " " << variant_id({choice}));
      EXPECT_EQ(expected.mismatch(work, run(problem, choice)), "");
    }
  }

  const Implementation& kernel_ = *find_implementation("dilated_wgmma", DeviceKind::cuda);
  const std::unique_ptr<Device> device_ = survey().absence.empty() ? open_cuda_device(0) : nullptr;
  Random random_{31};
};

// Strided rows and gathered ones, Q in an order too, tiles that visit their keys backwards.
TEST_P(CudaHeadDims, EqualTheOracle) {
  KernelChoice moved = choice_of("hilbert", KeyRows::automatic);
  moved.order_tensors = OrderTensors::qkv;
  KernelChoice backwards = moved;
  backwards.key_visit = KeyVisit::slot;
  backwards.traversal = "sawtooth_tile";
  for (const Mask mask : {Mask::full, Mask::causal})
    for (const std::int64_t length : {1, 79, 113, 700, 1009})
      expect_equal_to_the_oracle(case_of(length, mask),
                                 {choice_of("linear", KeyRows::automatic),
                                  choice_of("linear", KeyRows::gathered), moved, backwards});
}

// Segments that end inside a block of keys, rows that no branch covers, and branches that merge in fp32.
TEST_P(CudaHeadDims, BranchesEqualTheOracle) {
  for (const Mask mask : {Mask::full, Mask::causal})
    for (const std::vector<Branch>& pattern :
         {std::vector<Branch>{{300, 2}}, std::vector<Branch>{{97, 1}, {1009, 3}, {500, 7}}}) {
      Case work = case_of(1009, mask);
      work.batch = 2;
      work.pattern = pattern;
      expect_equal_to_the_oracle(
          work, {choice_of("linear", KeyRows::automatic), choice_of("linear", KeyRows::gathered),
                 choice_of("residue", KeyRows::automatic)});
    }
}

// All scores are 0, so LSE is the logarithm of the number of keys: a missing or a doubled key shows.
TEST_P(CudaHeadDims, EveryRowCountsItsKeys) {
  for (const Mask mask : {Mask::full, Mask::causal})
    for (const std::int64_t length : {80, 112, 128, 333, 1121})
      for (const KeyRows rows : {KeyRows::automatic, KeyRows::gathered}) {
        const Case work = case_of(length, mask);
        AttentionProblem problem(work, random_);
        std::fill(problem.q.begin(), problem.q.end(), 0.0f);
        const AttentionOutput output = run(problem, choice_of("linear", rows));
        for (std::size_t row = 0; row < output.lse.size(); ++row) {
          const auto position = static_cast<std::int64_t>(row) / work.heads;
          const double keys =
              std::log(static_cast<double>(mask == Mask::causal ? position + 1 : work.sequence_length));
          ASSERT_NEAR(output.lse[row], keys, 0x1p-19 * std::max(1.0, keys))
              << case_id(work) << ", row " << row;
        }
      }
}

// The row of another head begins where a row ends, and the next tile takes the same shared memory.
TEST_P(CudaHeadDims, OtherHeadsMayBeInfinite) {
  Case work = case_of(1300, Mask::full);
  work.batch = 2;
  work.heads = work.kv_heads = 12;
  const auto dim = static_cast<std::size_t>(work.head_dim);
  const AttentionProblem problem(work, random_);
  AttentionProblem infinite = problem;
  for (std::vector<float>* tensor : {&infinite.q, &infinite.k, &infinite.v})
    for (std::size_t i = 0; i < tensor->size(); ++i)
      if (i / dim % 2 == 1) (*tensor)[i] = std::numeric_limits<float>::infinity();
  for (const char* order : {"linear", "hilbert"})
    for (const KeyRows rows : {KeyRows::automatic, KeyRows::gathered}) {
      KernelChoice choice = choice_of(order, rows);
      choice.order_tensors = OrderTensors::qkv;
      const AttentionOutput expected = run(problem, choice), output = run(infinite, choice);
      for (std::size_t i = 0; i < output.o.size(); ++i)
        if (i / dim % 2 == 0)
          ASSERT_EQ(output.o[i], expected.o[i]) << case_id(work) << " " << variant_id({choice}) << ", " << i;
    }
}

INSTANTIATE_TEST_SUITE_P(Sizes, CudaHeadDims,
                         testing::Combine(testing::ValuesIn(kWgmmaHeadDims),
                                          testing::Values(Dtype::bf16, Dtype::fp16)));

}  // namespace
}  // namespace hilbench
