#include "reports/terminal/results.hpp"

#include <gtest/gtest.h>

#include "tests/reports/sample_records.hpp"

namespace hilbench {
namespace {

TEST(ResultsText, NamesTheSweepTheMachineAndTheCounts) {
  ReportInput input = sample::input();
  const std::string text = results_text(input, RowOrder::by_case, {}, [](const Record&) { return true; });
  EXPECT_EQ(text.rfind("quick: " + std::string(sample::kHostile) + "\nmachine: Example 9654", 0), 0u) << text;
  EXPECT_NE(text.find(" ok"), std::string::npos);
  input.meta["question"] = "Does it help?";
  EXPECT_EQ(results_text(input, RowOrder::by_case, {}, [](const Record&) { return true; })
                .rfind("quick: Does it help?\n", 0),
            0u);
}

TEST(ResultsText, KeepsTheRowsThatAreAskedFor) {
  const ReportInput input = sample::input();
  const std::string text = results_text(input, RowOrder::by_case, {}, [](const Record& record) {
    return record.variant_id == "dilated/random";
  });
  EXPECT_NE(text.find("dilated/random"), std::string::npos);
  EXPECT_EQ(text.find("  dilated/hilbert"), std::string::npos) << text;
}

TEST(ResultsText, LetsNoTextControlTheTerminal) {
  ReportInput input = sample::input();
  input.meta["question"] = "\033]0;owned\007";
  input.records[0].variant_id = "dilated/\033[2J";
  input.records[1].status = Status::failed;
  input.records[1].reason = "\033[2J gone";
  const std::string text = results_text(input, RowOrder::by_case, {}, [](const Record&) { return true; });
  EXPECT_EQ(text.find('\033'), std::string::npos);
  EXPECT_EQ(text.find('\007'), std::string::npos);
}

}  // namespace
}  // namespace hilbench
