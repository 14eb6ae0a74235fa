// dilated_cpu on windows, on grids and by masks, against the oracle.
#include <gtest/gtest.h>

#include "kernels/cpu/dilated_cpu.hpp"
#include "tests/kernels/every_product.hpp"
#include "tests/kernels/random_windows.hpp"
#include "tests/sanitized.hpp"

namespace hilbench {
namespace {

KernelChoice random_choice(Random& random, std::int64_t dimensions) {
  KernelChoice choice;
  choice.name = "dilated_cpu";
  choice.order = one_of<std::string>(random, {"linear", "snake", "morton", "hilbert", "boxes", "random"});
  if (choice.order == "boxes" && dimensions == 0) choice.order = "hilbert";
  if (choice.order == "boxes")
    for (std::int64_t d = 0; d < dimensions; ++d) choice.order_box.push_back(between(random, 1, 6));
  choice.order_tensors = one_of(random, {OrderTensors::kv, OrderTensors::qkv});
  choice.tiles = one_of(random, {KeyTiles::automatic, KeyTiles::united, KeyTiles::aligned});
  choice.traversal = one_of<std::string>(random, {"auto", "head_minor", "sawtooth", "longest_first"});
  return choice;
}

// The kernel computes what the oracle does, in an order, tiles and traversal that `random` chooses.
void expect_the_oracle(const Case& work, Random& random, std::uint64_t seed, float score_scale = 1) {
  AttentionProblem problem(work, random);
  for (float& value : problem.q) value = round_to(work.dtype, value * score_scale);
  const KernelChoice choice = random_choice(random, std::ssize(problem.work.windows));
  const int threads = static_cast<int>(between(random, 1, 3));
  const ExpectedRows expected(problem, every_row(problem.work));
  on_every_target(problem.work.dtype, [&](Bf16Products) {
    EXPECT_EQ(expected.mismatch(problem.work, problem.run(kDilatedCpu, choice, threads)), "")
        << "seed " << seed << ", " << case_id(problem.work) << ", " << variant_id({choice});
  });
}

class WindowsOnTheCpu : public testing::TestWithParam<int> {};

// Twenty seeded cases for each block; under a sanitizer every tenth.
TEST_P(WindowsOnTheCpu, EqualTheOracle) {
  for (int i = 0; i < 20; i += kSanitized ? 10 : 1) {
    const auto seed = static_cast<std::uint64_t>(GetParam() * 20 + i);
    Random random(seed);
    const Case work = random_windows(random, 22);
    expect_the_oracle(work, random, seed);
  }
}
INSTANTIATE_TEST_SUITE_P(Seeds, WindowsOnTheCpu, testing::Range(0, 25));

class MasksOnTheCpu : public testing::TestWithParam<int> {};

// The same for masks of blocks: rows without a key, and tiles without one, among them.
TEST_P(MasksOnTheCpu, EqualTheOracle) {
  for (int i = 0; i < 20; i += kSanitized ? 10 : 1) {
    const auto seed = static_cast<std::uint64_t>(1000 + GetParam() * 20 + i);
    Random random(seed);
    const Case work = random_mask(random, 400);
    expect_the_oracle(work, random, seed);
  }
}
INSTANTIATE_TEST_SUITE_P(Seeds, MasksOnTheCpu, testing::Range(0, 10));

// Rows of two keys whose probabilities hang on the last digits of large scores: each row needs a tolerance of
// its own, and no sample of sequences of summation is as far off.
TEST(MasksOnTheCpu, LargeScoresEqualTheOracle) {
  for (const std::uint64_t seed : {4229, 5132}) {
    Random random(seed);
    const Case work = random_mask(random, 400);
    expect_the_oracle(work, random, seed);
  }
}

// Beyond 2^24 a fused product is off by whole units of the exponent.
TEST(WindowsOnTheCpuAlike, HugeScoresEqualTheOracle) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    Random random(seed);
    const Case work = seed % 2 == 0 ? random_windows(random, 22) : random_mask(random, 200);
    expect_the_oracle(work, random, seed, 1e12f);
  }
}

// In bf16 the exponentials of the kernel are off by 9e-5, beside which small scores have small errors.
TEST(WindowsOnTheCpuAlike, SmallScoresEqualTheOracle) {
  for (const std::uint64_t seed : {24, 31, 60, 163}) {
    Random random(seed);
    Case work = random_windows(random, 22);
    ASSERT_EQ(work.dtype, Dtype::bf16);
    expect_the_oracle(work, random, seed, 0.1f);
  }
}

TEST(MasksOnTheCpu, RowsWithoutAKeyAreZero) {
  Random random(3);
  Case work{.sequence_length = 300, .heads = 1, .kv_heads = 1, .head_dim = 16, .device = DeviceKind::cpu};
  BlockBits bits(5);
  bits.set(0, 3);  // blocks 1 to 4 see nothing: part of the first tile of 128, and all of the two others
  work.mask_blocks = mask_of_bits(std::make_shared<const BlockBits>(bits), 64);
  fill_in_windows(work, Length::given);
  const AttentionProblem problem(work, random);
  const AttentionOutput output = problem.run(kDilatedCpu, {.name = "dilated_cpu"}, 1);
  for (std::size_t t = 0; t < 300; ++t) {
    EXPECT_EQ(std::isinf(output.lse[t]), t >= 64) << t;
    for (std::size_t d = 0; d < 16; ++d) EXPECT_EQ(output.o[t * 16 + d] == 0, t >= 64) << t;
  }
}

// An order and the form of the tiles change nothing but roundings: the same rows, whatever the layout.
TEST(WindowsOnTheCpuAlike, InEveryOrder) {
  Random random(5);
  Case work{.heads = 2, .head_dim = 32, .device = DeviceKind::cpu};
  work.kv_heads = 1;
  work.windows = {{.extent = 6, .window = 3, .causal = true},
                  {.extent = 12, .window = 5, .stride = 2},
                  {.extent = 14, .window = 4, .dilation = 3}};
  fill_in_windows(work);
  const AttentionProblem problem(work, random);
  const ExpectedRows expected(problem, every_row(work));
  for (const char* order : {"linear", "snake", "morton", "hilbert", "random"})
    for (const KeyTiles tiles : {KeyTiles::united, KeyTiles::aligned}) {
      KernelChoice choice;
      choice.order = order;
      choice.order_tensors = OrderTensors::qkv;
      choice.tiles = tiles;
      EXPECT_EQ(expected.mismatch(work, problem.run(kDilatedCpu, choice, 2)), "") << order;
    }
}

}  // namespace
}  // namespace hilbench
