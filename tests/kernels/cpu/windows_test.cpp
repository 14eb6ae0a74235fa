// dilated_cpu on windows on grids, against the oracle.
#include <gtest/gtest.h>

#include "kernels/cpu/dilated_cpu.hpp"
#include "tests/kernels/every_product.hpp"
#include "tests/kernels/random_windows.hpp"
#include "tests/sanitized.hpp"

namespace hilbench {
namespace {

Variant random_variant(Random& random, std::int64_t dimensions) {
  Variant variant;
  variant.kernel = "dilated_cpu";
  variant.order = one_of<std::string>(random, {"linear", "snake", "morton", "hilbert", "boxes", "random"});
  if (variant.order == "boxes")
    for (std::int64_t d = 0; d < dimensions; ++d) variant.order_box.push_back(between(random, 1, 6));
  variant.order_tensors = one_of(random, {OrderTensors::kv, OrderTensors::qkv});
  variant.tiles = one_of(random, {KeyTiles::automatic, KeyTiles::united, KeyTiles::aligned});
  variant.traversal = one_of<std::string>(random, {"auto", "head_minor", "sawtooth", "longest_first"});
  return variant;
}

class WindowsOnTheCpu : public testing::TestWithParam<int> {};

// Twenty seeded cases for each block; under a sanitizer every tenth.
TEST_P(WindowsOnTheCpu, EqualTheOracle) {
  for (int i = 0; i < 20; i += kSanitized ? 10 : 1) {
    const auto seed = static_cast<std::uint64_t>(GetParam() * 20 + i);
    Random random(seed);
    const AttentionProblem problem(random_windows(random, 22), random);
    const Variant variant = random_variant(random, std::ssize(problem.work.windows));
    const int threads = static_cast<int>(between(random, 1, 3));
    const ExpectedRows expected(problem, every_row(problem.work));
    on_every_target(problem.work.dtype, [&](Bf16Products) {
      EXPECT_EQ(expected.mismatch(problem.work, problem.run(kDilatedCpu, variant, threads)), "")
          << "seed " << seed << ", " << case_id(problem.work) << ", " << variant_id(variant);
    });
  }
}
INSTANTIATE_TEST_SUITE_P(Seeds, WindowsOnTheCpu, testing::Range(0, 25));

// An order and the form of the tiles change nothing but roundings: the same rows, whatever the layout.
TEST(WindowsOnTheCpuAlike, InEveryOrder) {
  Random random(5);
  Case work{.heads = 2, .head_dim = 32, .device = DeviceKind::cpu};
  work.kv_heads = 1;
  work.windows = {{.extent = 6, .window = 3, .causal = true},
                  {.extent = 12, .window = 5, .stride = 2},
                  {.extent = 14, .window = 4, .dilation = 3}};
  fill_in_grid(work);
  const AttentionProblem problem(work, random);
  const ExpectedRows expected(problem, every_row(work));
  for (const char* order : {"linear", "snake", "morton", "hilbert", "random"})
    for (const KeyTiles tiles : {KeyTiles::united, KeyTiles::aligned}) {
      Variant variant;
      variant.order = order;
      variant.order_tensors = OrderTensors::qkv;
      variant.tiles = tiles;
      EXPECT_EQ(expected.mismatch(work, problem.run(kDilatedCpu, variant, 2)), "") << order;
    }
}

}  // namespace
}  // namespace hilbench
