#include <gtest/gtest.h>

#include <cmath>

#include "baselines/gradient_tolerance.hpp"
#include "kernels/case/pattern.hpp"
#include "kernels/cpu/dilated_cpu.hpp"
#include "tests/kernels/every_product.hpp"
#include "tests/kernels/gradient_problem.hpp"
#include "tests/kernels/random_case.hpp"
#include "tests/kernels/random_windows.hpp"
#include "tests/process_memory.hpp"
#include "tests/sanitized.hpp"

namespace hilbench {
namespace {

KernelChoice backward_choice(Random& random) {
  KernelChoice choice;
  choice.name = "dilated_cpu";
  choice.order = one_of<std::string>(random, {"linear", "snake", "hilbert", "residue", "random"});
  choice.order_tensors = one_of(random, {OrderTensors::kv, OrderTensors::qkv});
  choice.key_visit = one_of(random, {KeyVisit::position, KeyVisit::slot});
  choice.traversal = one_of<std::string>(random, {"auto", "head_major", "sawtooth", "longest_first"});
  return choice;
}

class BackwardProperty : public testing::TestWithParam<int> {};

TEST_P(BackwardProperty, EqualsTheOracle) {
  for (int i = 0; i < 50; i += kSanitized ? 10 : 1) {
    const auto seed = static_cast<std::uint64_t>(GetParam() * 50 + i);
    Random random(seed);
    Case work = random_case(random, one_of<std::int64_t>(random, {40, 100, 200}));
    work.head_dim = std::max<std::int64_t>(work.head_dim, 16);
    work.dropout = one_of(random, {0.0, 0.0, 0.125, 0.6}), work.dropout_seed = between(random, 0, 1) << 40;
    const GradientProblem problem(work, random);
    const KernelChoice choice = backward_choice(random);
    const int threads = static_cast<int>(between(random, 1, 3));
    const ExpectedGradients expected(problem, 30, random);
    on_every_target(problem.work.dtype, [&](Bf16Products) {
      EXPECT_EQ(expected.mismatch(problem.run(kDilatedCpu, choice, threads)), "")
          << "seed " << seed << ", " << case_id(problem.work) << ", " << choice.order << " "
          << choice.traversal << " " << threads << " threads";
    });
  }
}
INSTANTIATE_TEST_SUITE_P(Seeds, BackwardProperty, testing::Range(0, 10));

class BackwardOfWindows : public testing::TestWithParam<int> {};

// Windows on grids and masks of blocks in turn.
TEST_P(BackwardOfWindows, EqualsTheOracle) {
  for (int i = 0; i < 20; i += kSanitized ? 10 : 1) {
    const auto seed = static_cast<std::uint64_t>(GetParam() * 20 + i);
    Random random(seed);
    const GradientProblem problem(i % 2 == 0 ? random_windows(random, 20) : random_mask(random, 300), random);
    KernelChoice choice = backward_choice(random);
    if (choice.order == "residue") choice.order = "hilbert";
    choice.key_visit = KeyVisit::position;
    choice.tiles = one_of(random, {KeyTiles::united, KeyTiles::aligned});
    const int threads = static_cast<int>(between(random, 1, 3));
    const ExpectedGradients expected(problem, 30, random);
    on_every_target(problem.work.dtype, [&](Bf16Products) {
      EXPECT_EQ(expected.mismatch(problem.run(kDilatedCpu, choice, threads)), "")
          << "seed " << seed << ", " << case_id(problem.work) << ", " << variant_id({choice}) << " "
          << threads << " threads";
    });
  }
}
INSTANTIATE_TEST_SUITE_P(Seeds, BackwardOfWindows, testing::Range(0, 10));

// Long enough for several tiles and blocks of keys, in one pass and in two; two runs give the same bits.
TEST(DilatedCpuBackward, ManyTilesEqualTheOracleAndThemselves) {
  Random random(1);
  for (const Dtype dtype : {Dtype::fp32, Dtype::bf16})
    for (const Mask mask : {Mask::full, Mask::causal}) {
      if (kSanitized && (dtype == Dtype::fp32) == (mask == Mask::full)) continue;
      Case work{.sequence_length = 1511,
                .pattern = {{700, 2}, {1511, 1}},
                .heads = 3,
                .kv_heads = 1,
                .head_dim = 72,
                .dtype = dtype,
                .mask = mask,
                .threads = 2};
      work.dropout = dtype == Dtype::fp32 ? 0.125 : 0;
      const GradientProblem problem(work, random);
      const ExpectedGradients expected(problem, 40, random);
      KernelChoice choice;
      choice.name = "dilated_cpu", choice.order = "hilbert";
      choice.key_visit = mask == Mask::full ? KeyVisit::slot : KeyVisit::position;
      for (const int threads : {1, 2}) {
        const Gradients first = problem.run(kDilatedCpu, choice, threads);
        EXPECT_EQ(expected.mismatch(first), "") << case_id(problem.work) << " " << threads << " threads";
        const Gradients again = problem.run(kDilatedCpu, choice, threads);
        EXPECT_EQ(first.q, again.q);
        EXPECT_EQ(first.k, again.k);
        EXPECT_EQ(first.v, again.v);
      }
    }
}

// The bytes that the plan counts are those that a run leaves in memory: within 5 %.
TEST(DilatedCpuBackward, HoldsWhatIsPlanned) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer holds more";
  const Case work{.sequence_length = 4096,
                  .pattern = {{512, 1}},
                  .heads = 8,
                  .kv_heads = 8,
                  .head_dim = 64,
                  .dtype = Dtype::bf16,
                  .pass = Pass::backward,
                  .threads = 1};
  const std::size_t elements = 4096 * 8 * 64;
  std::vector<std::vector<std::uint16_t>> tensors(8, std::vector<std::uint16_t>(elements, 0));
  std::vector<float> lse(elements / 64, 1.0f);
  const KernelChoice choice;
  const Index index = case_index(work, choice, kDilatedCpu.tile_rows(work));
  const std::uint64_t before = process_bytes().resident;
  const auto execution = kDilatedCpu.prepare(work, choice, 1);
  execution->load(index);
  execution->run({.q = tensors[0].data(),
                  .k = tensors[1].data(),
                  .v = tensors[2].data(),
                  .o = tensors[3].data(),
                  .lse = lse.data(),
                  .d_o = tensors[4].data(),
                  .d_q = tensors[5].data(),
                  .d_k = tensors[6].data(),
                  .d_v = tensors[7].data()},
                 index);
  const auto held = static_cast<double>(process_bytes().resident - before);
  const double planned = kDilatedCpu.workspace_bytes(work, 1);
  EXPECT_GT(planned, 3.0 * 4 * static_cast<double>(elements));
  EXPECT_NEAR(held, planned, 0.05 * planned);
}

}  // namespace
}  // namespace hilbench
