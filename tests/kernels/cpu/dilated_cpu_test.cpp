#include "kernels/cpu/dilated_cpu.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kernels/cpu/dilated_tile.hpp"
#include "kernels/machine/host.hpp"
#include "kernels/machine/host_memory.hpp"
#include "tests/kernels/attention_problem.hpp"
#include "tests/kernels/every_product.hpp"
#include "tests/sanitized.hpp"

namespace hilbench {
namespace {

Case random_case(Random& random) {
  Case work{.sequence_length =
                one_of(random, {between(random, 1, 40), between(random, 20, 150), between(random, 130, 300)}),
            .pattern = {},
            .batch = between(random, 1, 3),
            .heads = between(random, 1, 5),
            .head_dim = one_of<std::int64_t>(
                random, {16, 32, 64, 80, 128, between(random, 16, 100), between(random, 16, 256)}),
            .dtype = one_of(random, {Dtype::fp32, Dtype::bf16}),
            .mask = one_of(random, {Mask::full, Mask::causal}),
            .queries = one_of(random, {Queries::dilated, Queries::dilated, Queries::dense}),
            .head_offset = one_of(random, {HeadOffset::modulo, HeadOffset::contiguous, HeadOffset::none}),
            .branch_heads = one_of(random, {BranchHeads::all, BranchHeads::all, BranchHeads::partition}),
            .device = DeviceKind::cpu};
  work.kv_heads = one_of(random, {work.heads, between(random, 1, work.heads)});
  for (std::int64_t branches = between(random, 1, 3); branches > 0; --branches) {
    const std::int64_t w =
        between(random, 1, one_of(random, {work.sequence_length, 2 * work.sequence_length}));
    work.pattern.push_back({w, one_of(random, {std::int64_t{1}, between(random, 1, w),
                                               std::min<std::int64_t>(w, between(random, 1, 8)), w})});
  }
  return work;
}

KernelChoice random_choice(Random& random) {
  KernelChoice choice;
  choice.name = "dilated_cpu";
  choice.order = one_of<std::string>(random, {"linear", "snake", "morton", "gray", "hilbert", "moore",
                                              "residue", "bitrev_residue", "random"});
  choice.order_chunk = one_of<std::int64_t>(random, {0, 0, 16, 64});
  choice.order_tensors = one_of(random, {OrderTensors::kv, OrderTensors::qkv});
  choice.key_visit = one_of(random, {KeyVisit::position, KeyVisit::slot});
  choice.traversal =
      one_of<std::string>(random, {"auto", "head_major", "head_minor", "sawtooth", "sawtooth_tile", "grouped",
                                   "hilbert", "morton", "longest_first"});
  if (choice.traversal == "grouped" || choice.traversal == "longest_first")
    choice.traversal_param = between(random, 1, 5);
  return choice;
}

class DilatedCpuProperty : public testing::TestWithParam<int> {};

// Fifty seeded cases for each block; under a sanitizer every tenth.
TEST_P(DilatedCpuProperty, EqualsTheOracle) {
  for (int i = 0; i < 50; i += kSanitized ? 10 : 1) {
    const auto seed = static_cast<std::uint64_t>(GetParam() * 50 + i);
    Random random(seed);
    Case work = random_case(random);
    work.dropout = one_of(random, {0.0, 0.0, 0.125, 0.6}), work.dropout_seed = between(random, 0, 1) << 40;
    const AttentionProblem problem(work, random);
    const KernelChoice choice = random_choice(random);
    const int threads = static_cast<int>(between(random, 1, 3));
    const ExpectedRows expected(problem, every_row(problem.work));
    on_every_target(problem.work.dtype, [&](Bf16Products) {
      EXPECT_EQ(expected.mismatch(problem.work, problem.run(kDilatedCpu, choice, threads)), "")
          << "seed " << seed << ", " << case_id(problem.work) << ", " << choice.order << " "
          << choice.traversal << " " << threads << " threads";
    });
  }
}
INSTANTIATE_TEST_SUITE_P(Seeds, DilatedCpuProperty, testing::Range(0, 12));

KernelChoice choice_of(std::string_view order, std::string_view traversal = "head_major") {
  KernelChoice choice;
  choice.name = "dilated_cpu";
  choice.order = order;
  choice.traversal = traversal;
  return choice;
}

TEST(DilatedCpu, PagesOfItsWorkspacesDoNotChangeTheOutput) {
  Case work{.sequence_length = 300,
            .pattern = {{100, 2}, {300, 3}},
            .heads = 3,
            .kv_heads = 3,
            .head_dim = 32,
            .device = DeviceKind::cpu};
  for (const Dtype dtype : {Dtype::fp32, Dtype::bf16}) {
    work.dtype = dtype;
    if (kDilatedCpu.why_not(work, {choice_of("hilbert")})) continue;
    Random random(3);
    AttentionProblem problem(work, random);
    const AttentionOutput usual = problem.run(kDilatedCpu, choice_of("hilbert"), 2);
    for (const PageSize pages : {PageSize::of_4k, PageSize::of_2m}) {
      problem.work.pages = pages;
      const auto execution = kDilatedCpu.prepare(problem.work, choice_of("hilbert"), 2);
      const AttentionOutput output = problem.run_with(*execution, kDilatedCpu, choice_of("hilbert"));
      EXPECT_TRUE(huge_share()) << "its workspaces are where they are looked for";
      EXPECT_EQ(output.o, usual.o) << to_string(pages);
      EXPECT_EQ(output.lse, usual.lse) << to_string(pages);
    }
  }
}

// Long enough for full tiles of every width and several blocks of keys; rows are sampled. Under a sanitizer
// each dtype takes one mask, with one of the queries.
TEST(DilatedCpu, ManyTilesEqualTheOracle) {
  Random random(1);
  for (const Dtype dtype : {Dtype::fp32, Dtype::bf16})
    for (const Mask mask : {Mask::full, Mask::causal})
      for (const Queries queries : {Queries::dilated, Queries::dense}) {
        const bool causal_bf16 = dtype == Dtype::bf16 && mask == Mask::causal && queries == Queries::dilated;
        const bool full_fp32 = dtype == Dtype::fp32 && mask == Mask::full && queries == Queries::dense;
        if (kSanitized && !causal_bf16 && !full_fp32) continue;
        const Case work{.sequence_length = 4111,
                        .pattern = {{1500, 2}, {4111, 1}, {3001, 3}},
                        .heads = 8,
                        .kv_heads = 4,
                        .head_dim = 72,
                        .dtype = dtype,
                        .mask = mask,
                        .queries = queries,
                        .threads = 2};
        const AttentionProblem problem(work, random);
        const ExpectedRows expected(problem, sampled_rows(work, random, 60));
        KernelChoice choice = choice_of("hilbert", "sawtooth");
        choice.key_visit = KeyVisit::slot;
        // Of whole panels: 1500 rows in two tiles, 750 in one; more tiles where the cache is small.
        const std::int64_t rows = kDilatedCpu.tile_rows(work);
        const std::int64_t cache = data_cache_bytes(2);
        const bool small = cache > 0 && cache < std::int64_t{1} << 20;
        EXPECT_EQ(rows % 48, 0);
        EXPECT_TRUE(rows == 768 || (small && rows < 768))
            << rows << " rows, a cache of " << cache << " bytes";
        with_every_product(dtype, [&](Bf16Products) {
          EXPECT_EQ(expected.mismatch(work, problem.run(kDilatedCpu, choice, 2)), "") << case_id(work);
        });
      }
}

// What the kernel multiplies by if nothing is forced, or what HILBENCH_BF16 of this process forces.
TEST(DilatedCpu, TheChosenProductEqualsTheOracle) {
  ASSERT_EQ(chosen_bf16_products().against, std::nullopt);
  for (std::uint64_t seed = 1000; seed < 1020; ++seed) {
    Random random(seed);
    Case work = random_case(random);
    work.dtype = Dtype::bf16;
    const AttentionProblem problem(work, random);
    const KernelChoice choice = random_choice(random);
    const ExpectedRows expected(problem, every_row(work));
    EXPECT_EQ(expected.mismatch(work, problem.run(kDilatedCpu, choice, 2)), "")
        << "seed " << seed << ", " << case_id(work);
  }
}

// If the keys are visited in the same sequence, the layout changes no arithmetic at all.
void expect_orders_change_no_bit(const Case& work) {
  Random random(2);
  const AttentionProblem problem(work, random);
  const AttentionOutput linear = problem.run(kDilatedCpu, choice_of("linear"), 1);
  for (const std::string_view order :
       {"snake", "morton", "gray", "hilbert", "moore", "residue", "bitrev_residue", "random"})
    for (const OrderTensors tensors : {OrderTensors::kv, OrderTensors::qkv}) {
      KernelChoice choice = choice_of(order, "hilbert");
      choice.order_tensors = tensors;
      const AttentionOutput output = problem.run(kDilatedCpu, choice, 2);
      EXPECT_EQ(output.o, linear.o) << order;
      EXPECT_EQ(output.lse, linear.lse) << order;
    }
}

TEST(DilatedCpu, OrdersChangeNoBit) {
  Case work{.sequence_length = 700, .pattern = {{350, 1}, {700, 3}}, .kv_heads = 4, .head_dim = 32};
  for (const Dtype dtype : {Dtype::fp32, Dtype::bf16}) {
    work.dtype = dtype;
    with_every_product(dtype, [&](Bf16Products) { expect_orders_change_no_bit(work); });
  }
}

// Scores of about +-700, and rows whose first visible key carries all the weight.
TEST(DilatedCpu, LargeScoresStayFinite) {
  Random random(3);
  const Case work{.sequence_length = 300,
                  .pattern = {{300, 1}, {100, 4}},
                  .heads = 2,
                  .kv_heads = 2,
                  .mask = Mask::causal};
  AttentionProblem problem(work, random);
  for (float& value : problem.q) value *= 9;
  for (float& value : problem.k) value *= 9;
  const ExpectedRows expected(problem, every_row(work));
  EXPECT_GT(expected.largest_lse(), 300);
  on_every_target(work.dtype, [&](Bf16Products) {
    EXPECT_EQ(expected.mismatch(work, problem.run(kDilatedCpu, choice_of("linear"), 1)), "");
  });
}

// Every head_dim from 16 on, over blocks of keys and panels of queries that end anywhere.
// Beyond 2^24 a fused product is off by whole units of the exponent. Scores of 1e4 to 1e20, of both signs.
TEST(DilatedCpu, HugeScoresEqualTheOracle) {
  for (std::uint64_t seed = 0; seed < (kSanitized ? 6 : 60); ++seed) {
    Random random(seed);
    AttentionProblem problem(random_case(random), random);
    const float factor = std::pow(10.0f, static_cast<float>(between(random, 4, 18)));
    for (float& value : problem.q) value = round_to(problem.work.dtype, value * factor);
    const KernelChoice choice = random_choice(random);
    const ExpectedRows expected(problem, every_row(problem.work));
    on_every_target(problem.work.dtype, [&](Bf16Products) {
      EXPECT_EQ(expected.mismatch(problem.work, problem.run(kDilatedCpu, choice, 2)), "")
          << "seed " << seed << ", " << case_id(problem.work) << ", scores times " << factor;
    });
  }
}

TEST(DilatedCpu, Bf16TakesEveryHeadDim) {
  for (std::int64_t head_dim = 16; head_dim <= 256; head_dim += head_dim < 70 ? 1 : 31) {
    Random random(static_cast<std::uint64_t>(head_dim));
    const Case work{.sequence_length = between(random, 140, 300),
                    .pattern = {{between(random, 130, 300), between(random, 1, 2)}},
                    .heads = 3,
                    .kv_heads = between(random, 1, 3),
                    .head_dim = head_dim,
                    .dtype = Dtype::bf16,
                    .mask = one_of(random, {Mask::full, Mask::causal})};
    const AttentionProblem problem(work, random);
    const ExpectedRows expected(problem, sampled_rows(work, random, 30));
    with_every_product(work.dtype, [&](Bf16Products) {
      EXPECT_EQ(expected.mismatch(work, problem.run(kDilatedCpu, choice_of("linear"), 1)), "")
          << case_id(work);
    });
  }
}

// A workspace full of NaN: everything that a product reads must have been written, also beyond its keys.
TEST(DilatedCpu, StaleWorkspaceChangesNothing) {
  Random random(5);
  for (const Dtype dtype : {Dtype::fp32, Dtype::bf16}) {
    const Case work{.sequence_length = 37,
                    .pattern = {{37, 1}},
                    .heads = 2,
                    .kv_heads = 2,
                    .head_dim = 20,
                    .dtype = dtype};
    const AttentionProblem problem(work, random);
    const ExpectedRows expected(problem, every_row(work));
    on_every_target(dtype, [&](Bf16Products) {
      const KernelChoice choice = choice_of("linear");
      const auto execution = kDilatedCpu.prepare(work, choice, 1);
      for (const float value : {std::numeric_limits<float>::quiet_NaN(), 1.0f}) {
        AttentionProblem before = problem;
        std::ranges::fill(before.v, value);
        std::ranges::fill(before.k, value);
        before.run_with(*execution, kDilatedCpu, choice);
        EXPECT_EQ(expected.mismatch(work, problem.run_with(*execution, kDilatedCpu, choice)), "");
      }
    });
  }
}

TEST(DilatedCpu, SaysWhatItDoesNotDo) {
  const Case work;
  const KernelChoice choice;
  EXPECT_EQ(kDilatedCpu.why_not(work, {choice}), std::nullopt);
  const auto reason = [&](auto change) {
    Case changed = work;
    change(changed);
    return kDilatedCpu.why_not(changed, {choice}).value_or("");
  };
  EXPECT_EQ(reason([](Case& c) { c.dtype = Dtype::fp16; }), "dilated_cpu stores fp32 or bf16, not fp16");
  EXPECT_EQ(reason([](Case& c) { c.ring_size = 2; }), "dilated_cpu runs on one rank");
  EXPECT_EQ(reason([](Case& c) { c.head_dim = 8; }), "dilated_cpu takes head_dim 16 to 256, not 8");
  EXPECT_EQ(reason([](Case& c) { c.head_dim = 257; }), "dilated_cpu takes head_dim 16 to 256, not 257");
  EXPECT_NE(reason([](Case& c) { c.sequence_length = std::int64_t{1} << 31; }), "");
}

// No score matrix: the workspace grows with threads, and with the output only if bf16 branches merge in fp32.
TEST(DilatedCpu, WorkspaceIsSmall) {
  for (const Dtype dtype : {Dtype::fp32, Dtype::bf16})
    on_every_target(dtype, [&](Bf16Products) {
      const Case work{.sequence_length = 1 << 20, .pattern = {{1 << 20, 1}, {4096, 1}}, .dtype = dtype};
      Case parts = work;
      parts.branch_heads = BranchHeads::partition;
      EXPECT_LT(kDilatedCpu.workspace_bytes(parts, 1), 1 << 20);
      EXPECT_EQ(kDilatedCpu.workspace_bytes(parts, 1),
                4.0 * tile_workspace_floats(work.head_dim, kDilatedCpu.tile_rows(parts)));
      EXPECT_EQ(kDilatedCpu.workspace_bytes(parts, 4), 4 * kDilatedCpu.workspace_bytes(parts, 1));
      EXPECT_EQ(kDilatedCpu.workspace_bytes(work, 2) - kDilatedCpu.workspace_bytes(parts, 2),
                dtype == Dtype::bf16 ? 4.0 * (1 << 20) * work.heads * work.head_dim : 0);
    });
}

}  // namespace
}  // namespace hilbench
