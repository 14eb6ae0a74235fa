#include "harness/pictures/sweep_orders.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/reports/rendered.hpp"
#include "tests/reports/sample_records.hpp"
#include "tests/reports/windows_records.hpp"

namespace hilbench {
namespace {

std::vector<std::string> names_of(const Strip& strip) {
  std::vector<std::string> names;
  for (const Panel& panel : strip.panels) names.push_back(panel.name);
  return names;
}

TEST(SweepOrders, OfASequenceAreDrawnWithTheDilationOfTheCase) {
  ReportInput input;
  for (const char* order : {"linear", "hilbert", "residue", "linear"})
    input.records.push_back(sample::record(sample::work(4096, {{1024, 1}, {2048, 4}}), "dilated", order));
  const std::vector<Strip> strips = order_strips(view_of(input));
  ASSERT_EQ(strips.size(), 1u);
  EXPECT_EQ(strips[0].title, "Orders of 1024 positions, dilation 4");
  EXPECT_EQ(names_of(strips[0]), (std::vector<std::string>{"linear", "hilbert", "residue"}));
  EXPECT_EQ(strips[0].panels[2].slots[4], 1) << "residue: position 4 follows position 0";
}

TEST(SweepOrders, OfWindowsAreDrawnAsPathsAndAsFootprints) {
  ReportInput input;
  input.records = sample::windowed_records();
  const std::vector<Strip> strips = order_strips(view_of(input));
  ASSERT_EQ(strips.size(), 2u);
  EXPECT_EQ(strips[0].title, "Orders on 32 x 32 positions");
  EXPECT_EQ(strips[1].title, "One tile: windows of 13 x 13 on 64 x 64");
  ASSERT_TRUE(strips[1].panels[1].footprint);
  EXPECT_EQ(strips[1].panels[1].footprint->computed_over_needed, 3) << "that of the record";
}

TEST(SweepOrders, OneOrderNeedsNoPicture) {
  ReportInput input;
  input.records.push_back(sample::record(sample::work(4096, {{2048, 1}}), "dilated", "linear"));
  EXPECT_TRUE(order_strips(view_of(input)).empty());
  EXPECT_TRUE(order_strips(view_of(ReportInput{})).empty());
}

TEST(SweepOrders, StandInTheReport) {
  ReportInput input;
  input.records = sample::windowed_records();
  add_order_pictures(input);
  const Document document = document_without_pictures(input);
  const auto section = std::ranges::find(document.sections, "orders", &Section::id);
  ASSERT_NE(section, document.sections.end());
  EXPECT_EQ(section->blocks.size(), 2u);
  EXPECT_NE(to_markdown(document).find("](figures/footprints.svg)"), std::string::npos);
}

}  // namespace
}  // namespace hilbench
