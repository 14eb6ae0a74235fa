#include "kernels/case/case.hpp"

#include <gtest/gtest.h>

namespace hilbench {
namespace {

TEST(CaseId, HasTheContractsForm) {
  Case work{
      .sequence_length = 8192, .pattern = {{2048, 1}, {4096, 2}}, .kv_heads = 8, .device = DeviceKind::cpu};
  EXPECT_EQ(case_id(work), "n8192-w2048.4096-r1.2-h8-d64-fp32-p1-cpu");
}

TEST(CaseId, NamesEveryOtherParameterThatIsNotAtItsDefault) {
  Case work{.sequence_length = 100,
            .pattern = {{50, 3}},
            .batch = 2,
            .kv_heads = 4,
            .mask = Mask::causal,
            .queries = Queries::dense,
            .device = DeviceKind::cpu,
            .threads = 1};
  EXPECT_EQ(case_id(work),
            "n100-w50-r3-h8-d64-fp32-p1-cpu-batch.2-kv_heads.4-causal.true-queries.dense-threads.1");
}

TEST(CaseId, NamesTheInputsThatAreNotAtTheirDefault) {
  Case work{.sequence_length = 64, .pattern = {{64, 1}}, .kv_heads = 8, .device = DeviceKind::cpu};
  const std::string usual = case_id(work);
  EXPECT_EQ(usual, "n64-w64-r1-h8-d64-fp32-p1-cpu");
  work.score_scale = 4;
  work.data = DataKind::heavy_tails;
  EXPECT_EQ(case_id(work), usual + "-score_scale.4-data.heavy_tails");
  work.data = DataKind::normal;
  work.score_scale = 0.5;
  EXPECT_EQ(case_id(work), usual + "-score_scale.0.5");
  work.score_scale = 0.0012;
  EXPECT_EQ(case_id(work), usual + "-score_scale.0.0012");
}

TEST(CaseId, NamesThePagesThatWereAskedFor) {
  Case work{.sequence_length = 64, .pattern = {{64, 1}}, .kv_heads = 8, .device = DeviceKind::cpu};
  work.pages = PageSize::of_2m;
  EXPECT_EQ(case_id(work), "n64-w64-r1-h8-d64-fp32-p1-cpu-pages.2m");
  work.pages = PageSize::of_4k;
  EXPECT_EQ(case_id(work), "n64-w64-r1-h8-d64-fp32-p1-cpu-pages.4k");
}

TEST(CaseId, NamesDropout) {
  Case work{.sequence_length = 64, .pattern = {{64, 1}}, .kv_heads = 8, .device = DeviceKind::cpu};
  work.dropout = 0.125;
  EXPECT_EQ(case_id(work), "n64-w64-r1-h8-d64-fp32-p1-cpu-dropout.0.125");
  work.dropout_seed = 3;
  EXPECT_EQ(case_id(work), "n64-w64-r1-h8-d64-fp32-p1-cpu-dropout.0.125-dropout_seed.3");
}

}  // namespace
}  // namespace hilbench
