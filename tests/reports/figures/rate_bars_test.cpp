#include "reports/figures/rate_bars.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "reports/figures/shared_rows.hpp"
#include "tests/reports/sample_records.hpp"

namespace hilbench {
namespace {

void add(ReportInput& input, const Case& work, double rate) {
  input.records.push_back(sample::record(work, "dilated", "linear"));
  input.records.back().tflops = rate;
  input.records.back().verify.emplace();
  Record rival = input.records.back();
  rival.kind = ImplementationKind::baseline;
  rival.variant_id = rival.variant.change().name = rival.kernel = "rival";
  rival.tflops = rate / 2;
  input.records.push_back(rival);
}

TEST(RateBars, StandByLengthAndLibrary) {
  ReportInput input;
  Case causal = sample::work(1024, {{1024, 1}});
  causal.mask = Mask::causal;
  add(input, causal, 0.3);
  add(input, sample::work(4096, {{4096, 1}}), 0.2);
  add(input, sample::work(1024, {{1024, 1}}), 0.1);
  input.records.pop_back();  // no rival at the shorter length
  const std::vector<RatePanel> panels = rate_panels(view_of(input));
  ASSERT_EQ(panels.size(), 2u) << "a mask is shared by all bars";
  const RatePanel& panel = panels.front();
  EXPECT_EQ(panel.lengths, (std::vector<std::int64_t>{1024, 4096})) << "most lengths first, and sorted";
  ASSERT_EQ(panel.series.size(), 2u);
  EXPECT_EQ(panel.series[1].library, "rival");
  EXPECT_EQ(panel.series[1].records[0], nullptr);
  EXPECT_DOUBLE_EQ(*panel.series[1].records[1]->tflops, 0.1);
  EXPECT_DOUBLE_EQ(*panel.series[0].records[0]->tflops, 0.1);
  EXPECT_EQ(unit_of(panel).name, "GFLOP/s");
  const nlohmann::json drawn = rates_json(view_of(input))[0];
  EXPECT_EQ(drawn["lengths"], (nlohmann::json{1024, 4096}));
  EXPECT_EQ(drawn["series"][0]["bars"][0][0], 100);
  EXPECT_EQ(drawn["series"][0]["bars"][1][0], 200);
  EXPECT_TRUE(drawn["series"][1]["bars"][0].is_null());
  EXPECT_EQ(drawn["series"][1]["bars"][1][0], 100);
}

TEST(RateBars, AreThinnedOutIfThereAreMany) {
  ReportInput input;
  for (std::int64_t length = 1; length <= 100; ++length)
    add(input, sample::work(64 * length, {{64 * length, 1}}), 1.0 + 0.01 * static_cast<double>(length));
  const std::vector<RatePanel> panels = rate_panels(view_of(input));
  ASSERT_EQ(panels.size(), 1u);
  ASSERT_EQ(panels[0].lengths.size(), kMostRateLengths);
  EXPECT_EQ(panels[0].lengths.front(), 64);
  EXPECT_EQ(panels[0].lengths.back(), 6400);
  EXPECT_DOUBLE_EQ(*panels[0].series[0].records.back()->tflops, 2.0);
  EXPECT_NE(reading_of(panels[0]).find("16 of 100 lengths are drawn"), std::string::npos);
  EXPECT_EQ(unit_of(panels[0]).name, "TFLOP/s");
}

TEST(RateBars, NeedTwoLibraries) {
  ReportInput input;
  add(input, sample::work(4096, {{4096, 1}}), 0.2);
  input.records.pop_back();
  EXPECT_TRUE(rate_panels(view_of(input)).empty());
}

}  // namespace
}  // namespace hilbench
