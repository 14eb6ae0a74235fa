#include "reports/summaries/rates.hpp"

#include <gtest/gtest.h>

#include <string>

#include "reports/summaries/energy.hpp"
#include "reports/tables/training.hpp"
#include "tests/reports/sample_records.hpp"
#include "tests/reports/table_cell.hpp"

namespace hilbench {
namespace {

void add_rated(ReportInput& input, Case work, Dtype dtype, double tflops) {
  work.dtype = dtype;
  Record& made = input.records.emplace_back(sample::record(work, "dilated", "linear"));
  sample::time(made, 1, 1, 0);
  made.tflops = tflops;
}

TEST(Rates, StandBesideDenseCasesWithAsManyKeys) {
  ReportInput input;
  add_rated(input, sample::work(2048, {{2048, 1}}), Dtype::fp32, 0.1);
  add_rated(input, sample::work(2048, {{2048, 1}}), Dtype::bf16, 0.25);
  add_rated(input, sample::work(4096, {{512, 1}}), Dtype::fp32, 0.09);
  add_rated(input, sample::work(8192, {{8192, 16}}), Dtype::fp32, 0.081);
  const Table table = rates_table(view_of(input));
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_EQ(cell(table, 0, "case"), "n 2048, 2048/1, h 8, d 64");
  EXPECT_EQ(cell(table, 0, "keys"), "2048");
  EXPECT_EQ(cell(table, 0, "bf16 / fp32"), "2.50");
  EXPECT_EQ(cell(table, 0, "bf16, share of the dense rate with 2048 keys"), "100.0 %");
  EXPECT_EQ(cell(table, 2, "keys"), "512");
  EXPECT_EQ(cell(table, 2, "fp32, share of the dense rate with as many keys"), "90.0 %");
  EXPECT_EQ(cell(table, 2, "fp32, share of the dense rate with 2048 keys"), "81.0 %");
  EXPECT_EQ(cell(table, 2, "bf16"), "");
}

TEST(Rates, NeedSomethingToStandBeside) {
  ReportInput input;
  add_rated(input, sample::work(2048, {{2048, 1}}), Dtype::fp32, 0.1);
  add_rated(input, sample::work(4096, {{512, 1}}), Dtype::fp32, 0.09);
  EXPECT_TRUE(rates_table(view_of(input)).rows.empty());
}

TEST(Inputs, AreOverNormalOnesOfTheSameVariant) {
  ReportInput input;
  const Case normal = sample::work(1024, {{1024, 1}});
  Case sharp = normal;
  sharp.score_scale = 20;
  Case equal = normal;
  equal.data = DataKind::equal_rows;
  const auto add = [&](const Case& work, std::string_view name, bool baseline, double factor) {
    sample::time(input.records.emplace_back(sample::record(work, name, "linear", baseline)), 1, factor, 0);
  };
  add(normal, "dilated", false, 1);
  add(normal, "gemm", true, 2);
  add(sharp, "dilated", false, 1.1);
  add(sharp, "gemm", true, 1.9);
  add(equal, "gemm", true, 1.8);
  add(equal, "torch_sdpa", true, 0.5);  // not measured with normal inputs
  const Table table = inputs_table(view_of(input));
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(cell(table, 0, "case"), "n 1024, 1024/1, h 8, d 64, fp32, score_scale 20");
  EXPECT_EQ(cell(table, 0, "dilated/linear"), "1.100");
  EXPECT_EQ(cell(table, 0, "gemm"), "0.950");
  EXPECT_EQ(cell(table, 1, "dilated/linear"), "");
  EXPECT_EQ(cell(table, 1, "gemm"), "0.900");
  EXPECT_EQ(table.columns.size(), 3u);
}

TEST(Energy, StandsByVariant) {
  ReportInput input;
  const Case work = sample::work(1024, {{1024, 1}});
  for (const auto& [name, joules] : {std::pair{"dilated", 2.5}, {"gemm", 3.25}, {"torch_sdpa", 0.0}}) {
    Record& made =
        input.records.emplace_back(sample::record(work, name, "linear", name != std::string("dilated")));
    sample::time(made, 1, 1, 0);
    made.energy = Energy{.median_j = joules};
    if (joules > 0) made.energy->samples_j = {joules};
  }
  const Table table = energy_table(view_of(input));
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(cell(table, 0, "dilated/linear"), "2.50");
  EXPECT_EQ(cell(table, 0, "gemm"), "3.25");
  EXPECT_EQ(table.columns.size(), 3u) << "an unknown energy has no column";
}

TEST(Training, StepsStandBesideThoseWithoutDropout) {
  ReportInput input;
  Case usual = sample::work(1024, {{1024, 1}});
  usual.pass = Pass::both;
  Case dropped = usual;
  dropped.dropout = 0.125, dropped.dropout_seed = 3;
  const auto add = [&](const Case& work, double factor, double held) -> Record& {
    Record& made = input.records.emplace_back(sample::record(work, "dilated", "linear"));
    sample::time(made, 1, factor, 0);
    made.held_bytes = held, made.peak_bytes = 2 * held;
    return made;
  };
  add(usual, 1, 0x1p20);
  add(dropped, 1.25, 0x1p20);
  add(dropped, 2, 0x1p19).status = Status::failed;
  input.records.push_back(sample::record(usual, "gemm", "linear", true));  // holds nothing that is known
  const Table table = training_table(view_of(input));
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(cell(table, 0, "over_no_dropout"), "");
  EXPECT_EQ(cell(table, 1, "over_no_dropout"), "1.250");
  EXPECT_EQ(cell(table, 1, "held"), "1.000 MiB");
  EXPECT_EQ(cell(table, 1, "peak"), "2.000 MiB");
  EXPECT_NE(cell(table, 1, "case").find("dropout 0.125"), std::string::npos);
}

}  // namespace
}  // namespace hilbench
