#include "baselines/block_analysis.hpp"

#include <gtest/gtest.h>

#include <string>

#include "baselines/derived_sectors.hpp"
#include "baselines/table.hpp"
#include "kernels/machine/named_gpus.hpp"

namespace hilbench {
namespace {

Case dilated_case(std::int64_t head_dim, std::int64_t kv_heads = 2) {
  Case work{.sequence_length = 4096,
            .pattern = {{2048, 4}},
            .heads = kv_heads,
            .kv_heads = kv_heads,
            .head_dim = head_dim};
  work.dtype = Dtype::fp32;
  work.device = DeviceKind::cuda;
  return work;
}

BlockAnalysis analysis_of(const Case& work, const KernelChoice& choice, const char* gpu = "h100") {
  const Implementation& implementation = *find_implementation("dilated_simt", DeviceKind::cuda);
  return BlockAnalyser().analyse(work, choice, implementation, stream_device(named_gpu(gpu)));
}

KernelChoice ordered(const std::string& order) {
  return {.name = "dilated_simt", .order = order};
}

TEST(BlockAnalysis, LinearOrderIsTheSame) {
  const BlockAnalysis analysis = analysis_of(dilated_case(64), ordered("linear"));
  EXPECT_EQ(analysis.view, CacheView::same);
  EXPECT_EQ(analysis.most_ratio(), 1);
  EXPECT_EQ(analysis.changed_blocks, 0);
  EXPECT_GT(analysis.blocks, 0);
}

// residue moves rows, which stand at one stride all the same: nothing but names of lines changes.
TEST(BlockAnalysis, ResidueOnlyRenames) {
  const BlockAnalysis analysis = analysis_of(dilated_case(64), ordered("residue"));
  EXPECT_EQ(analysis.view, CacheView::renamed);
  EXPECT_EQ(analysis.most_ratio(), 1);
  EXPECT_NE(analysis.sentence().find("cannot change"), std::string::npos);
}

TEST(BlockAnalysis, CurvesAddTheirTable) {
  for (const char* gpu : {"gtx-1080", "a100", "h100"})
    for (const char* order : {"hilbert", "random"}) {
      const BlockAnalysis analysis = analysis_of(dilated_case(64), ordered(order), gpu);
      EXPECT_EQ(analysis.view, CacheView::table) << gpu << order;
      EXPECT_EQ(analysis.changed_blocks, 0);
      EXPECT_EQ(analysis.changed_tiles, 0);
      EXPECT_GT(analysis.read_ratio(), 1);
      EXPECT_GT(analysis.most_ratio(), 1);
    }
}

TEST(BlockAnalysis, VisitsBySlotChangeBlocks) {
  KernelChoice choice = ordered("random");
  choice.key_visit = KeyVisit::slot;
  const BlockAnalysis analysis = analysis_of(dilated_case(64), choice);
  EXPECT_EQ(analysis.view, CacheView::sequence);
  EXPECT_EQ(analysis.changed_tiles, 0);
  EXPECT_GT(analysis.changed_blocks, 0);
  EXPECT_LE(analysis.changed_blocks, analysis.blocks);
  EXPECT_GT(analysis.most_ratio(), 1);
}

// One head of 8 fp32 elements: four slots share each of the 4096 * 32 / 128 lines.
TEST(BlockAnalysis, LinesOfSeveralSlotsAreCounted) {
  const BlockAnalysis analysis = analysis_of(dilated_case(8, 1), ordered("hilbert"));
  EXPECT_EQ(analysis.view, CacheView::shared);
  EXPECT_EQ(analysis.shared_lines, 1024);
  EXPECT_EQ(analysis_of(dilated_case(64), ordered("hilbert")).shared_lines, 0);
}

// Another sequence of the same tiles moves no row, but may change what is still in a cache.
TEST(BlockAnalysis, TraversalsMoveTiles) {
  KernelChoice choice = ordered("linear");
  choice.traversal = "sawtooth_tile";
  const BlockAnalysis analysis = analysis_of(dilated_case(64), choice);
  EXPECT_EQ(analysis.view, CacheView::sequence);
  EXPECT_EQ(analysis.changed_tiles, 0);
  EXPECT_EQ(analysis.moved_tiles, analysis.tiles / 2);
  EXPECT_EQ(analysis.read_ratio(), 1);
}

TEST(BlockAnalysis, MovedQueriesAreCounted) {
  KernelChoice choice = ordered("random");
  choice.order_tensors = OrderTensors::qkv;
  const BlockAnalysis analysis = analysis_of(dilated_case(64), choice);
  EXPECT_GT(analysis.moved_queries, 0);
  EXPECT_EQ(analysis.changed_tiles, 0);
}

// Processors read the table of slots in every order, so that an order only renames lines. Rows of 160 bytes
// share lines of 64: of each two neighbouring rows one line.
TEST(BlockAnalysis, OfProcessorsIsInLines) {
  Case work = dilated_case(64);
  work.device = DeviceKind::cpu;
  const Variant named{KernelChoice{.name = "dilated", .order = "random"}};
  const Implementation* kernel = streamed_implementation(work, named, {});
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(kernel->name, "dilated_cpu");
  EXPECT_FALSE(why_no_sectors(work, named, kernel, {}));
  BlockAnalyser analyser;
  const BlockAnalysis renamed = analyser.analyse(work, named.kernel(), *kernel, {});
  EXPECT_EQ(renamed.view, CacheView::renamed);
  EXPECT_EQ(renamed.unit.name, "lines");
  EXPECT_EQ(renamed.own, renamed.linear);
  EXPECT_EQ(renamed.shared_lines, 0);
  KernelChoice by_slot = named.kernel();
  by_slot.key_visit = KeyVisit::slot;
  EXPECT_EQ(analyser.analyse(work, by_slot, *kernel, {}).view, CacheView::sequence);
  Case narrow = dilated_case(80, 1);
  narrow.device = DeviceKind::cpu;
  narrow.dtype = Dtype::bf16;
  const BlockAnalysis shared = analyser.analyse(narrow, named.kernel(), *kernel, {});
  EXPECT_EQ(shared.view, CacheView::shared);
  EXPECT_EQ(shared.shared_lines, 4096 / 2);
}

}  // namespace
}  // namespace hilbench
