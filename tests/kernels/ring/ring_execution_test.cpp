#include "kernels/ring/ring_execution.hpp"

#include <gtest/gtest.h>

#include "kernels/cpu/dilated_cpu.hpp"
#include "kernels/ring/transport/threads.hpp"
#include "tests/kernels/ring/ring_cases.hpp"
#include "tests/kernels/ring/ring_problem.hpp"
#include "tests/sanitized.hpp"

namespace hilbench {
namespace {

AttentionOutput run_on_cpu(const AttentionProblem& problem, const Variant& variant, int threads,
                           RowsClearedBy cleared_by = RowsClearedBy::device) {
  std::vector<std::shared_ptr<Transport>> ends;
  const auto ranks = static_cast<int>(problem.work.ring_size);
  EmulatedLink link;
  if (variant.ring.outer_link == OuterLink::emulated_host)
    link.group_size = ranks / static_cast<int>(variant.ring.groups);
  for (auto& end : thread_transports(ranks, kRingTimeout_s, link)) ends.push_back(std::move(end));
  const auto resources = cpu_rank_resources(std::move(ends), threads);
  return run_rings({{problem, variant, kDilatedCpu, cleared_by}}, *resources, threads).front();
}

class RingEqualsOneRank : public testing::TestWithParam<std::tuple<RingAlgorithm, Sharding>> {};

// Every ring size with both masks and both dtypes; lengths are odd or below the number of ranks,
// all other options random. Under a sanitizer one case takes the place of four, and masks alternate with
// sizes.
TEST_P(RingEqualsOneRank, ForEverySizeMaskAndDtype) {
  const auto [algorithm, sharding] = GetParam();
  Random random(static_cast<std::uint64_t>(static_cast<int>(algorithm) * 10 + static_cast<int>(sharding)));
  for (const std::int64_t ranks : kRingSizes)
    for (const Mask mask : {Mask::full, Mask::causal})
      for (const Dtype dtype : {Dtype::fp32, Dtype::bf16})
        for (int i = 0; i < (kSanitized ? 1 : 4); ++i) {
          if (kSanitized && (mask == Mask::causal) != (ranks % 2 == 0)) continue;
          Case work = random_ring_case(random, ranks, 90, algorithm);
          work.mask = mask;
          work.dtype = dtype;
          const Variant variant = random_ring_variant(random, ranks, algorithm, sharding);
          SCOPED_TRACE(described(work, variant));
          const AttentionProblem problem(work, random);
          const ExpectedRows expected(problem, every_row(work));
          EXPECT_EQ(expected.mismatch(work, run_on_cpu(problem, variant, 1 + i % 2)), "");
          EXPECT_EQ(expected.mismatch(work, run_on_cpu(problem, variant, 1, RowsClearedBy::test)), "");
          if (HasFailure()) return;
        }
}
INSTANTIATE_TEST_SUITE_P(All, RingEqualsOneRank,
                         testing::Combine(testing::ValuesIn(kRingAlgorithms), testing::ValuesIn(kShardings)));

// Several tiles and blocks of keys per piece, at the sizes of real tiles. Under a sanitizer each algorithm
// takes one sharding.
TEST(RingExecution, LongerSequencesEqualOneRank) {
  Random random(3);
  for (const RingAlgorithm algorithm : kRingAlgorithms)
    for (const Sharding sharding : kShardings)
      for (const Mask mask : {Mask::full, Mask::causal}) {
        const auto at = [](auto option) { return static_cast<std::size_t>(option); };
        if (kSanitized && at(sharding) != at(algorithm) % kShardings.size()) continue;
        const Case work{.sequence_length = 2111,
                        .pattern = {{700, 1}, {2111, 4}},
                        .heads = 8,
                        .kv_heads = 4,
                        .head_dim = 64,
                        .dtype = Dtype::bf16,
                        .mask = mask,
                        .ring_size = 4};
        Variant variant{KernelChoice{.name = "dilated_cpu"}};
        variant.ring.algorithm = algorithm;
        variant.ring.groups = 2;
        variant.ring.sharding = sharding;
        SCOPED_TRACE(described(work, variant));
        const AttentionProblem problem(work, random);
        const ExpectedRows expected(problem, sampled_rows(work, random, 40));
        EXPECT_EQ(expected.mismatch(work, run_on_cpu(problem, variant, 1)), "");
      }
}

// Ranks merge in a fixed sequence, whenever messages arrive.
TEST(RingExecution, RepeatedRunsGiveTheSameBits) {
  Random random(8);
  for (const RingAlgorithm algorithm : kRingAlgorithms) {
    const Case work{.sequence_length = 517,
                    .pattern = {{200, 1}, {517, 3}},
                    .heads = 8,
                    .kv_heads = 4,
                    .head_dim = 16,
                    .ring_size = 4};
    Variant variant{KernelChoice{.name = "dilated_cpu"}};
    variant.ring.algorithm = algorithm;
    variant.ring.groups = 2;
    SCOPED_TRACE(described(work, variant));
    const AttentionProblem problem(work, random);
    const AttentionOutput first = run_on_cpu(problem, variant, 2);
    for (int i = 0; i < (kSanitized ? 1 : 5); ++i) {
      const AttentionOutput again = run_on_cpu(problem, variant, 2);
      EXPECT_EQ(again.o, first.o);
      EXPECT_EQ(again.lse, first.lse);
    }
  }
}

TEST(HiddenShare, IsTheExchangeThatTookNoTime) {
  EXPECT_EQ(hidden_share(10, 4, 10), 1);
  EXPECT_EQ(hidden_share(10, 4, 14), 0);
  EXPECT_EQ(hidden_share(10, 4, 12), 0.5);
  EXPECT_EQ(hidden_share(10, 4, 9), 1);
  EXPECT_EQ(hidden_share(10, 4, 20), 0);
  EXPECT_EQ(hidden_share(10, 0, 10), 1);
}

}  // namespace
}  // namespace hilbench
