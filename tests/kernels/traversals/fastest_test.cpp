#include "kernels/traversals/fastest.hpp"

#include <gtest/gtest.h>

namespace hilbench {
namespace {

std::string chosen(std::int64_t length, Branch branch, std::int64_t heads, std::int64_t kv_heads,
                   std::int64_t head_dim, CausalTraversal causal, std::int64_t batch = 1) {
  Case work;
  work.sequence_length = length;
  work.batch = batch;
  work.heads = heads;
  work.kv_heads = kv_heads;
  work.head_dim = head_dim;
  work.dtype = Dtype::bf16;
  work.mask = Mask::causal;
  return to_string(fastest_traversal(work, branch, causal));
}

constexpr auto kGrouped = CausalTraversal::longest_first_grouped;

TEST(Fastest, OfOneBranchByHand) {
  // K and V of a head have 2 MiB at 4096 positions.
  EXPECT_EQ(chosen(4096, {4096, 1}, 16, 16, 128, kGrouped), "longest_first");
  EXPECT_EQ(chosen(8192, {8192, 1}, 16, 16, 128, kGrouped), "longest_first");
  EXPECT_EQ(chosen(32768, {32768, 1}, 16, 16, 128, kGrouped), "longest_first.4");
  EXPECT_EQ(chosen(65536, {65536, 1}, 16, 16, 128, kGrouped), "longest_first.2");
  // Four query heads share K and V.
  EXPECT_EQ(chosen(8192, {8192, 1}, 32, 8, 128, kGrouped), "longest_first");
  EXPECT_EQ(chosen(65536, {65536, 1}, 32, 8, 128, kGrouped), "longest_first.8");
  // Batch entries are heads as well.
  EXPECT_EQ(chosen(2048, {2048, 1}, 16, 16, 128, kGrouped, 8), "longest_first.16");
}

TEST(Fastest, OfDilatedBranchesByHand) {
  // Segments of a head are sets of keys of their own: 32, 8 and 4 of them.
  EXPECT_EQ(chosen(65536, {2048, 1}, 16, 16, 128, kGrouped), "longest_first.1");
  EXPECT_EQ(chosen(65536, {8192, 1}, 16, 16, 128, kGrouped), "longest_first.2");
  EXPECT_EQ(chosen(65536, {16384, 4}, 16, 16, 128, kGrouped), "longest_first.4");
  // A dilation of 16 leaves 2 MiB a head.
  EXPECT_EQ(chosen(65536, {65536, 16}, 16, 16, 128, kGrouped), "longest_first");
}

TEST(Fastest, DependsOnTheKernelAndTheMask) {
  EXPECT_EQ(chosen(65536, {65536, 1}, 16, 16, 128, CausalTraversal::longest_first), "longest_first");
  EXPECT_EQ(chosen(65536, {65536, 1}, 16, 16, 128, CausalTraversal::head_major), "head_major");
  Case work;
  work.sequence_length = 65536;
  EXPECT_EQ(fastest_traversal(work, {65536, 1}, kGrouped), (Traversal{"head_major", {}}));
}

TEST(Fastest, OnlyAutoIsReplaced) {
  Case work;
  work.mask = Mask::causal;
  KernelChoice choice;
  choice.traversal = "grouped";
  choice.traversal_param = 3;
  const Branch branch{work.sequence_length, 1};
  const TraversalFacts facts{.causal = kGrouped, .at_once = 132};
  EXPECT_EQ(traversal_of(work, branch, choice, facts), (Traversal{"grouped", 3}));
  choice.traversal = "auto";
  choice.traversal_param.reset();
  EXPECT_EQ(traversal_of(work, branch, choice, facts), fastest_traversal(work, branch, kGrouped));
}

TEST(Fastest, AWaveIsAsManyTilesAsThereAreAtOnceUnlessGiven) {
  const Case work;
  const Branch branch{work.sequence_length, 1};
  const TraversalFacts facts{.at_once = 132};
  KernelChoice choice;
  choice.traversal = "sawtooth";
  EXPECT_TRUE(chosen_by_program(choice));
  EXPECT_EQ(traversal_of(work, branch, choice, facts), (Traversal{"sawtooth", 132}));
  choice.traversal_param = 4;
  EXPECT_FALSE(chosen_by_program(choice));
  EXPECT_EQ(traversal_of(work, branch, choice, facts), (Traversal{"sawtooth", 4}));
}

}  // namespace
}  // namespace hilbench
