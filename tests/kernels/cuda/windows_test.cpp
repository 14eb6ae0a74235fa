// The CUDA forward kernels on windows, on grids and by masks, compared with the oracle.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/kernels/cuda/on_gpu.hpp"
#include "tests/kernels/random_windows.hpp"

namespace hilbench {
namespace {

// Grids of at most `longest` positions along each of two dimensions, or half of that along each of three.
Case on_gpu(Random& random, Case work) {
  work.device = DeviceKind::cuda;
  work.head_dim = one_of<std::int64_t>(random, {64, 128, 64, 128, 32, 80, 96, 112, 192, 256});
  work.dtype = one_of(random, {Dtype::bf16, Dtype::fp16});
  return work;
}
Case random_gpu_case(Random& random, std::int64_t longest) {
  return on_gpu(random,
                random_windows(random, one_of<std::int64_t>(random, {longest / 6, longest / 3, longest})));
}
Case random_gpu_mask(Random& random, std::int64_t longest) {
  return on_gpu(random, random_mask(random, longest * longest));
}
using MakeCase = Case (*)(Random&, std::int64_t);

KernelChoice random_choice(Random& random, const Case& work) {
  KernelChoice choice;
  choice.order = one_of<std::string>(random, {"linear", "snake", "morton", "hilbert", "boxes", "random"});
  if (choice.order == "boxes" && !has_grid(work)) choice.order = "hilbert";
  if (choice.order == "boxes")
    for (std::size_t d = 0; d < work.windows.size(); ++d) choice.order_box.push_back(between(random, 1, 6));
  choice.order_tensors = one_of(random, {OrderTensors::kv, OrderTensors::qkv});
  choice.tiles = one_of(random, {KeyTiles::automatic, KeyTiles::united, KeyTiles::aligned});
  choice.traversal =
      one_of<std::string>(random, {"auto", "head_minor", "sawtooth_tile", "grouped", "longest_first"});
  if (choice.traversal == "grouped") choice.traversal_param = between(random, 1, 5);
  return choice;
}

std::string described(std::uint64_t seed, const Case& work, const KernelChoice& choice) {
  return "seed " + std::to_string(seed) + ", " + case_id(work) + ", " + variant_id({choice});
}

// Compares `cases` seeded cases from `first_seed` on; returns the number of comparisons.
int compare_with_oracle(MakeCase make, int first_seed, int cases, std::int64_t longest) {
  const auto device = open_cuda_device(0);
  int compared = 0;
  for (int i = 0; i < cases; ++i) {
    const auto seed = static_cast<std::uint64_t>(first_seed + i);
    Random random(seed);
    const Case work = make(random, longest);
    const AttentionProblem problem(work, random);
    const std::int64_t rows = work.batch * work.sequence_length * work.heads;
    const ExpectedRows expected(problem, rows <= 200 ? every_row(work) : sampled_rows(work, random, 64));
    for (const Implementation* implementation : kernels_for(work)) {
      KernelChoice choice = random_choice(random, work);
      choice.name = implementation->name;
      EXPECT_EQ(expected.mismatch(work, run_on_gpu(*device, problem, *implementation, choice)), "")
          << described(seed, work, choice);
      ++compared;
    }
  }
  return compared;
}

class CudaWindowsProperty : public testing::TestWithParam<int> {};

TEST_P(CudaWindowsProperty, EqualTheOracle) {
  constexpr int kCasesABlock = 50;
  if (!survey().absence.empty()) GTEST_SKIP() << survey().absence;
  EXPECT_GE(compare_with_oracle(random_gpu_case, GetParam() * kCasesABlock, kCasesABlock, 36), kCasesABlock);
}
// Rows without a key, and tiles without one, are among these.
TEST_P(CudaWindowsProperty, MasksEqualTheOracle) {
  constexpr int kCasesABlock = 25;
  if (!survey().absence.empty()) GTEST_SKIP() << survey().absence;
  EXPECT_GE(compare_with_oracle(random_gpu_mask, 40000 + GetParam() * kCasesABlock, kCasesABlock, 36),
            kCasesABlock);
}
INSTANTIATE_TEST_SUITE_P(Blocks, CudaWindowsProperty, testing::Range(0, 10));

// Few and small cases, for the sanitizers.
TEST(CudaWindowsSmall, EqualTheOracle) {
  if (!survey().absence.empty()) GTEST_SKIP() << survey().absence;
  EXPECT_GE(compare_with_oracle(random_gpu_case, 10000, 12, 20), 12);
  EXPECT_GE(compare_with_oracle(random_gpu_mask, 50000, 12, 20), 12);
}

class CudaWindowsCount : public testing::TestWithParam<int> {};

// All scores are 0, so LSE is the logarithm of the number of keys in every row, whatever the layout: a
// missing or a doubled key shows.
TEST_P(CudaWindowsCount, EveryRowCountsItsKeys) {
  constexpr int kCasesABlock = 10;
  if (!survey().absence.empty()) GTEST_SKIP() << survey().absence;
  const auto device = open_cuda_device(0);
  for (int i = 0; i < kCasesABlock; ++i) {
    const auto seed = static_cast<std::uint64_t>(20000 + GetParam() * kCasesABlock + i);
    Random random(seed);
    const Case work = i % 2 == 0 ? random_gpu_case(random, 36) : random_gpu_mask(random, 36);
    AttentionProblem problem(work, random);
    std::fill(problem.q.begin(), problem.q.end(), 0.0f);
    for (const Implementation* implementation : kernels_for(work)) {
      KernelChoice choice = random_choice(random, work);
      choice.name = implementation->name;
      const AttentionOutput output = run_on_gpu(*device, problem, *implementation, choice);
      for (std::int64_t t = 0; t < work.sequence_length; ++t) {
        const double expected = std::log(static_cast<double>(visible_count(work, t)));
        for (std::int64_t h = 0; h < work.heads; ++h)
          for (std::int64_t b = 0; b < work.batch; ++b) {
            const auto row = static_cast<std::size_t>((b * work.sequence_length + t) * work.heads + h);
            if (std::isinf(expected)) {
              ASSERT_EQ(output.lse[row], expected) << described(seed, work, choice) << ", position " << t;
              continue;
            }
            ASSERT_NEAR(output.lse[row], expected, 0x1p-19 * std::max(1.0, expected))
                << described(seed, work, choice) << ", position " << t << ", head " << h << ", batch " << b;
          }
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Blocks, CudaWindowsCount, testing::Range(0, 10));

class CudaWindowsAlike : public testing::TestWithParam<std::tuple<std::int64_t, Dtype>> {};

// An order and the form of the tiles change nothing but roundings: every row, whatever the layout.
TEST_P(CudaWindowsAlike, InEveryOrder) {
  if (!survey().absence.empty()) GTEST_SKIP() << survey().absence;
  const auto device = open_cuda_device(0);
  Random random(5);
  Case work{.heads = 3, .device = DeviceKind::cuda};
  std::tie(work.head_dim, work.dtype) = GetParam();
  work.kv_heads = 1;
  work.windows = {{.extent = 7, .window = 3, .causal = true},
                  {.extent = 12, .window = 5, .stride = 2},
                  {.extent = 17, .window = 4, .dilation = 3}};
  fill_in_windows(work);
  const AttentionProblem problem(work, random);
  const ExpectedRows expected(problem, every_row(work));
  for (const Implementation* implementation : kernels_for(work))
    for (const char* order : {"linear", "snake", "morton", "hilbert", "random"})
      for (const OrderTensors tensors : {OrderTensors::kv, OrderTensors::qkv})
        for (const KeyTiles tiles : {KeyTiles::united, KeyTiles::aligned}) {
          KernelChoice choice{.name = std::string(implementation->name), .order = order};
          choice.order_tensors = tensors;
          choice.tiles = tiles;
          EXPECT_EQ(expected.mismatch(work, run_on_gpu(*device, problem, *implementation, choice)), "")
              << described(5, work, choice);
        }
}
INSTANTIATE_TEST_SUITE_P(Tensors, CudaWindowsAlike,
                         testing::Combine(testing::Values(40, 64, 80, 96, 128, 192, 200, 256),
                                          testing::Values(Dtype::bf16, Dtype::fp16)));

class CudaWindowsSteep : public testing::TestWithParam<std::tuple<std::int64_t, Dtype>> {};

// Keys grow with their position, so that every later block has larger scores than all before it, and rows see
// their first key in different blocks: no scale that is chosen early is large enough.
TEST_P(CudaWindowsSteep, ScoresMayRise) {
  if (!survey().absence.empty()) GTEST_SKIP() << survey().absence;
  const auto device = open_cuda_device(0);
  Random random(11);
  Case work{.heads = 2, .kv_heads = 2, .device = DeviceKind::cuda};
  std::tie(work.head_dim, work.dtype) = GetParam();
  work.windows = {{.extent = 40, .window = 25}, {.extent = 32, .window = 9}};
  fill_in_windows(work);
  AttentionProblem problem(work, random);
  const auto row = static_cast<std::size_t>(work.head_dim * work.heads);
  for (std::size_t t = 0; t < 1280; ++t)
    for (std::size_t i = 0; i < row; ++i) problem.k[t * row + i] *= std::exp2(static_cast<float>(t / 160));
  const ExpectedRows expected(problem, sampled_rows(work, random, 300));
  for (const Implementation* implementation : kernels_for(work))
    for (const char* order : {"linear", "hilbert", "random"})
      for (const KeyTiles tiles : {KeyTiles::united, KeyTiles::aligned}) {
        KernelChoice choice{.name = std::string(implementation->name), .order = order};
        choice.order_tensors = OrderTensors::qkv;
        choice.tiles = tiles;
        EXPECT_EQ(expected.mismatch(work, run_on_gpu(*device, problem, *implementation, choice)), "")
            << described(11, work, choice);
      }
}
INSTANTIATE_TEST_SUITE_P(Tensors, CudaWindowsSteep,
                         testing::Combine(testing::Values(40, 64, 80, 96, 128, 192, 200, 256),
                                          testing::Values(Dtype::bf16, Dtype::fp16)));

// A grid that boxes of 128 positions divide.
struct BoxedCase {
  Case work;
  std::vector<std::int64_t> box;
};
BoxedCase random_boxed_case(Random& random) {
  const auto boxes = one_of<std::vector<std::int64_t>>(
      random, {{8, 16}, {16, 8}, {4, 32}, {1, 128}, {4, 4, 8}, {2, 8, 8}, {8, 4, 4}, {1, 8, 16}, {2, 2, 32}});
  BoxedCase boxed{random_gpu_case(random, 36), boxes};
  Case& work = boxed.work;
  work.head_dim = one_of<std::int64_t>(random, {64, 128, 56, 80, 96, 192, 256});
  work.windows.clear();
  for (const std::int64_t extent : boxes) {
    WindowDimension dimension = random_dimension(random, 4, work.edges);
    dimension.extent = extent * between(random, 1, 3);
    dimension.dilation = std::min<std::int64_t>(dimension.dilation, dimension.extent);
    dimension.window = between(random, 1, dimension.extent / dimension.dilation);
    dimension.stride = between(random, 1, dimension.window);
    work.windows.push_back(dimension);
  }
  fill_in_windows(work);
  return boxed;
}

// Boxes that tensor maps fetch from the raster, against the oracle; every row of O counts its keys besides.
TEST(CudaWindowsBoxes, EqualTheOracleWithoutPermutation) {
  if (!survey().absence.empty()) GTEST_SKIP() << survey().absence;
  const Implementation& kernel = *find_implementation("boxes_wgmma", DeviceKind::cuda);
  const auto device = open_cuda_device(0);
  for (std::uint64_t seed = 30000; seed < 30060; ++seed) {
    Random random(seed);
    const BoxedCase boxed = random_boxed_case(random);
    KernelChoice choice{.name = "boxes_wgmma", .order = "boxes", .order_box = boxed.box};
    choice.order_tensors = OrderTensors::qkv;
    choice.tiles = KeyTiles::aligned;
    choice.traversal = one_of<std::string>(random, {"auto", "head_minor", "sawtooth_tile"});
    if (const auto reason = why_not(kernel, boxed.work, {choice}, &survey().gpus.front()))
      GTEST_SKIP() << *reason;
    AttentionProblem problem(boxed.work, random);
    const ExpectedRows expected(problem, sampled_rows(boxed.work, random, 64));
    EXPECT_EQ(expected.mismatch(boxed.work, run_on_gpu(*device, problem, kernel, choice)), "")
        << described(seed, boxed.work, choice);
    std::fill(problem.q.begin(), problem.q.end(), 0.0f);
    const AttentionOutput output = run_on_gpu(*device, problem, kernel, choice);
    for (std::size_t row = 0; row < output.lse.size(); ++row) {
      const auto position = static_cast<std::int64_t>(row) / boxed.work.heads % boxed.work.sequence_length;
      const double keys = std::log(static_cast<double>(visible_count(boxed.work, position)));
      ASSERT_NEAR(output.lse[row], keys, 0x1p-19 * std::max(1.0, keys))
          << described(seed, boxed.work, choice) << ", position " << position;
    }
  }
}

}  // namespace
}  // namespace hilbench
