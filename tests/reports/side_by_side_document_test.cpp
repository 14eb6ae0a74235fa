#include "reports/side_by_side_document.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/reports/rendered.hpp"
#include "tests/reports/sample_records.hpp"

namespace hilbench {
namespace {

// One comparison of `size` times the time, on a device.
ReportInput measured(double size, DeviceKind device = DeviceKind::cpu) {
  ReportInput input;
  Case work = sample::work(8192, {{4096, 2}});
  work.device = device;
  sample::add_comparison(input.records, work, size);
  return input;
}

const SideBySide& found(const std::vector<SideBySide>& pairs, std::string_view variant) {
  return *std::find_if(pairs.begin(), pairs.end(),
                       [&](const SideBySide& one) { return one.pair.a->variant_id == variant; });
}

TEST(SideBySide, PairsTheSameCaseOfUnlikeDevices) {
  const ReportInput a = measured(1), b = measured(0.5, DeviceKind::cuda);
  const ComparedRuns runs = compare_runs(a, b);
  EXPECT_TRUE(runs.pairs.empty()) << "ids hold the device";
  const std::vector<SideBySide> pairs = side_by_side(runs);
  ASSERT_EQ(pairs.size(), a.records.size());
  EXPECT_NEAR(found(pairs, "dilated/linear").pair.ratio->ratio, 2, 0.01);
  const Document document = side_by_side_document(runs, pairs, {}, {});
  EXPECT_NE(document.answer[0].find("Nothing is judged here."), std::string::npos);
  EXPECT_NE(document.answer[1].find("time in A / time in B is 2.00 in the median"), std::string::npos)
      << document.answer[1];
  EXPECT_NE(document.answer[2].find("on the same side of 1."), std::string::npos);
  const std::string text = to_text(document);
  for (const char* verdict : {"faster", "slower", "inconclusive", "equivalent"})
    EXPECT_EQ(text.find(verdict), std::string::npos) << verdict;
}

TEST(SideBySide, SaysThatNothingIsShared) {
  const ReportInput a = measured(1);
  ReportInput b;
  sample::add_comparison(b.records, sample::work(16384, {{4096, 2}}), 1);
  const ComparedRuns runs = compare_runs(a, b);
  EXPECT_TRUE(side_by_side(runs).empty());
  EXPECT_EQ(side_by_side_document(runs, {}, {}, {}).answer[1],
            "Nothing was timed in both runs: they share no case and variant that has a time.");
}

TEST(SideBySide, DrawsRatesAndSpeedups) {
  if (!can_draw()) GTEST_SKIP() << "figures cannot be drawn here";
  const ReportInput a = measured(1), b = measured(0.5);
  const ComparedRuns runs = compare_runs(a, b);
  const nlohmann::json data = side_by_side_data(runs, side_by_side(runs));
  for (const nlohmann::json& row : data["beside"]["rows"]) EXPECT_NE(row["variant"], "peak");
  Folder folder;
  const Drawn drawn = draw(data, find_chart_library({}), folder.path());
  EXPECT_EQ(drawn.notes, std::vector<std::string>{});
  ASSERT_EQ(drawn.figures.size(), 2u);
  const std::string rates = read(folder.path() / (drawn.figures[0].name + ".svg"));
  EXPECT_NE(rates.find(">A: " + runs.a.machine), std::string::npos);
  EXPECT_NE(rates.find(">B: " + runs.b.machine), std::string::npos);
  EXPECT_NE(read(folder.path() / (drawn.figures[1].name + ".svg")).find(">dilated/hilbert<"),
            std::string::npos);
}

}  // namespace
}  // namespace hilbench
