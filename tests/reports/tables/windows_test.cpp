#include "reports/tables/windows.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "reports/tables/window_times.hpp"
#include "reports/view/dense_case.hpp"
#include "reports/view/format.hpp"
#include "reports/view/judge.hpp"
#include "tests/reports/table_cell.hpp"
#include "tests/reports/windows_records.hpp"

namespace hilbench {
namespace {

double value(const Table& table, std::size_t row, std::string_view key) {
  return std::stod(cell(table, row, key));
}

struct Stored {
  ReportInput input;
  View view;
  explicit Stored(std::vector<Record> records) {
    input.records = std::move(records);
    view = view_of(input);
  }
};

TEST(DenseCase, IsLikeTheWindowedOneInAllElse) {
  Stored stored(sample::windowed_records());
  const CaseView* dense = dense_case(stored.view, sample::windowed());
  ASSERT_NE(dense, nullptr);
  EXPECT_EQ(dense->case_id, "n4096-w4096-r1-h8-d64-fp32-p1-cpu");
  Case other = sample::windowed();
  other.heads = other.kv_heads = 4;
  EXPECT_EQ(dense_case(stored.view, other), nullptr);
  other = sample::windowed();
  other.mask = Mask::causal;
  EXPECT_EQ(dense_case(stored.view, other), nullptr);
}

// A record holds a mask's hash alone: its pairs are counted before it is stored.
TEST(Windows, MasksStandBesideDenseAttentionToo) {
  std::vector<Record> records = sample::windowed_records();
  records.erase(records.begin() + 1, records.end() - 1);
  Case& work = records[0].work;
  work.windows = {{.extent = 64}, {.extent = 64}};
  work.edges = Edges::shift;
  work.mask_blocks = {.block = 64, .blocks = 64, .hash = 0xa7f5f064'01234567};
  records[0].case_id = case_id(work);
  const Stored stored(records);
  EXPECT_EQ(pattern_text(work), "grid 64x64, mask a7f5f064 of 64");
  const Table table = windows_table(stored.view);
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(cell(table, 0, "case").substr(0, 21), "g64x64-m64.a7f5f064-h");
  EXPECT_EQ(cell(table, 0, "needed_share"), "0.7 %") << "1e6 of 8 heads of 4096 x 4096 pairs";
  EXPECT_EQ(cell(table, 1, "remark"), "all pairs: a different function");
  work.windows.clear();
  records[0].case_id = case_id(work);
  records[0].pairs.reset();
  records[0].flops = 4 * 64 * 2e6;
  EXPECT_EQ(pattern_text(work), "n 4096, mask a7f5f064 of 64");
  EXPECT_EQ(cell(windows_table(Stored(records).view), 0, "needed_share"), "1.5 %");
}

TEST(Windows, OrdersRivalsAndDenseAttentionStandBesideEachOther) {
  const Stored stored(sample::windowed_records());
  const Table table = windows_table(stored.view);
  ASSERT_EQ(table.rows.size(), 5u);
  EXPECT_EQ(cell(table, 0, "variant"), "dilated/linear");
  EXPECT_EQ(cell(table, 0, "ratio"), "") << "it is the standard";
  EXPECT_EQ(cell(table, 1, "variant"), "dilated/hilbert.qkv");
  EXPECT_NEAR(value(table, 1, "ratio"), 2, 0.02);
  EXPECT_LT(value(table, 1, "ratio_low"), value(table, 1, "ratio_high"));
  EXPECT_NEAR(value(table, 1, "with_permutation"), 6.0 / 4, 0.02);
  EXPECT_EQ(cell(table, 1, "computed_over_needed"), "3.00");
  EXPECT_NEAR(value(table, 1, "density"), 3 * value(table, 1, "needed_share"), 0.2) << "per cent";
  EXPECT_EQ(cell(table, 3, "variant"), "torch_windows.flex");
  EXPECT_EQ(cell(table, 3, "computed_over_needed"), "7.50") << "as it says itself";
  EXPECT_NEAR(value(table, 3, "ratio"), 6.0 / 5, 0.02);
}

TEST(Windows, TwoProcessesAreSaidToBeTooFew) {
  std::vector<Record> records = sample::windowed_records();
  for (Record& record : records)
    if (record.time) record.time->process_rounds = {6, 6};
  for (std::size_t round = 6; round < 12; ++round) records[1].time->samples_ns[round] *= 1.5;
  judge(records);
  const Stored stored(records);
  EXPECT_EQ(cell(windows_table(stored.view), 1, "remark"), "inconclusive, too few processes");
}

TEST(Windows, RivalsAndDenseAttentionAreComparedWithTheFastestOrder) {
  std::vector<Record> records = sample::windowed_records();
  records[1].kernel = records[1].variant.change().name = "boxes_wgmma";  // the fastest, whatever its kernel
  records[1].variant_id = variant_id(records[1].variant);
  const Stored stored(records);
  const Table table = windows_table(stored.view);
  for (std::size_t row : {0, 1, 2}) EXPECT_EQ(cell(table, row, "over_fastest"), "") << row;
  EXPECT_NEAR(value(table, 3, "over_fastest"), 5.0 / 3, 0.02) << cell(table, 3, "variant");
  EXPECT_NEAR(value(table, 4, "over_fastest"), 30.0 / 3, 0.1) << cell(table, 4, "variant");
}

TEST(Windows, DenseAttentionIsMarkedAsAnotherFunction) {
  const Stored stored(sample::windowed_records());
  const Table table = windows_table(stored.view);
  EXPECT_EQ(cell(table, 4, "variant"), "dilated/linear (all pairs)");
  EXPECT_EQ(cell(table, 4, "remark"), "all pairs: a different function");
  EXPECT_NEAR(value(table, 4, "ratio"), 6.0 / 30, 0.01);
  const double needed = window_pairs(sample::windowed());
  EXPECT_NEAR(value(table, 4, "computed_over_needed"), 4096.0 * 4096 / needed, 0.1);
  EXPECT_EQ(cell(table, 4, "density"), "100.0 %");
}

TEST(Windows, StandCaseByCase) {
  const Stored stored(sample::windowed_records());
  const Table table = windows_by_case_table(stored.view);
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(cell(table, 0, "case"), whole_case_text(sample::windowed()));
  EXPECT_EQ(cell(table, 0, "raster"), "6.00");
  EXPECT_NEAR(value(table, 0, "dilated/hilbert.qkv"), 2, 0.02);
  EXPECT_TRUE(cell(table, 0, "dilated/hilbert.qkv").ends_with("; 3.00"));
  EXPECT_EQ(table.columns.back().key, "dilated/linear (all pairs)") << "another function stands last";
  EXPECT_NEAR(value(table, 0, "dilated/linear (all pairs)"), 0.2, 0.01);
}

TEST(Windows, AStoreWithoutWindowsHasNoRows) {
  const Stored stored(sample::input().records);
  EXPECT_TRUE(windows_table(stored.view).rows.empty());
  EXPECT_TRUE(window_times_table(stored.view).rows.empty());
  EXPECT_EQ(window_times_sentence(stored.view), "");
}

TEST(WindowTimes, ALineThroughTimesThatFollowThePairsLeavesNothing) {
  const Stored stored(sample::windowed_records());
  const Table table = window_times_table(stored.view);
  ASSERT_EQ(table.rows.size(), 3u) << "rivals have other kernels";
  for (std::size_t row = 0; row < 3; ++row) {
    EXPECT_NEAR(value(table, row, "predicted_ns") / value(table, row, "time_ns"), 1, 0.005);
    EXPECT_NEAR(value(table, row, "ns_per_pair"), 20, 0.2);
  }
  EXPECT_EQ(window_times_sentence(stored.view)
                .find("Time follows the pairs that tiles compute. 3 times were compared "
                      "with the line"),
            0u)
      << window_times_sentence(stored.view);
}

TEST(WindowTimes, WhatPairsDoNotExplainIsTheResidual) {
  std::vector<Record> records = sample::windowed_records();
  sample::time(records[1], 1, 6, 1);  // half the pairs, the same time
  const Stored stored(records);
  const Table table = window_times_table(stored.view);
  EXPECT_GT(value(table, 1, "residual"), 10) << "per cent; slower than its pairs say";
  EXPECT_LT(value(table, 0, "residual"), -5);
  EXPECT_NE(window_times_sentence(stored.view).find("(dilated/hilbert.qkv)"), std::string::npos)
      << window_times_sentence(stored.view);
}

TEST(WindowTimes, TwoNumbersOfPairsAreTooFew) {
  std::vector<Record> records = sample::windowed_records();
  records[2].pairs->computed = records[1].pairs->computed;
  EXPECT_TRUE(window_times_table(Stored(records).view).rows.empty());
}

}  // namespace
}  // namespace hilbench
