#include "reports/summaries/effects.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "reports/summaries/followed_counts.hpp"
#include "tests/reports/rendered.hpp"
#include "tests/reports/table_cell.hpp"
#include "tests/reports/windows_records.hpp"

namespace hilbench {
namespace {

struct OrderOf {
  double speedup, pages;
};

// Adds a case of `length` positions and its orders beside linear order, which counts 64 pages.
void add_case(ReportInput& input, std::int64_t length, const std::map<std::string, OrderOf>& orders) {
  const Case work = sample::work(length, {{1024, 4}});
  const auto add = [&](std::string_view order, const OrderOf& measured) {
    Record& made = input.records.emplace_back(sample::record(work, "dilated", order));
    sample::time(made, 1, 1 / measured.speedup, 0);
    made.counters["layout_pages_4k_per_tile"] = {
        .value = measured.pages, .unit = "pages", .source = "layout"};
  };
  add("linear", {1, 64});
  const std::size_t linear = input.records.size() - 1;
  for (const auto& [order, measured] : orders) {
    add(order, measured);
    sample::compare_with(input.records.back(), input.records[linear]);
  }
}

TEST(Effects, AreListedWithThoseThatTheControlReaches) {
  ReportInput input;
  add_case(input, 4096, {{"residue", {1.2, 16}}, {"random", {1.21, 64}}});
  add_case(input, 8192, {{"residue", {1.3, 16}}, {"random", {0.8, 64}}});
  const View view = view_of(input);
  const Table table = effects_table(view);
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(to_markdown(table).find("| dilated/residue | 2 | 1.200 to 1.300 | 4 | 0 |  |  |"),
            to_markdown(table).find("| dilated/residue |"));
  EXPECT_NE(to_markdown(table).find("| dilated/random | 1 | 1.210 | 4 | 1 | 0.800 | 4 |"), std::string::npos)
      << to_markdown(table);
  const std::vector<std::string> said = effects_sentences(view);
  ASSERT_EQ(said.size(), 2u);
  EXPECT_EQ(said[0],
            "In 2 of 2 cases some variant of a kernel is shown to be more than 1 % faster or slower than its "
            "reference.");
  EXPECT_EQ(said[1], "Random order, the control, reaches 1 of the 2 gains of other orders.");
}

TEST(Effects, OfLessThanTheMarginAreNone) {
  ReportInput input;
  add_case(input, 4096, {{"residue", {1.002, 64}}});
  EXPECT_TRUE(effects_table(view_of(input)).rows.empty());
  EXPECT_EQ(effects_sentences(view_of(input)),
            std::vector<std::string>{"In 0 of 1 case some variant of a kernel is shown to be more than 1 % "
                                     "faster or slower than its reference."});
  EXPECT_TRUE(effects_sentences(view_of({})).empty());
}

TEST(Effects, StandCaseByCase) {
  ReportInput input;
  add_case(input, 4096, {{"residue", {1.2, 16}}});
  add_case(input, 8192, {{"random", {0.8, 64}}});
  for (const Record& record : sample::windowed_records()) input.records.push_back(record);
  const Table table = ratios_table(view_of(input));
  ASSERT_EQ(table.rows.size(), 2u) << "windows have a table of their own";
  EXPECT_EQ(cell(table, 0, "case"), "n 4096, 1024/4, h 8, d 64, fp32");
  EXPECT_EQ(cell(table, 0, "kv_bytes"), "16.00 MiB");
  EXPECT_EQ(cell(table, 0, "keys"), "256");
  EXPECT_EQ(cell(table, 0, "dilated/residue").substr(0, 5), "1.200");
  EXPECT_EQ(cell(table, 0, "dilated/random"), "");
  EXPECT_EQ(cell(table, 1, "dilated/random").substr(0, 6), "0.8000");
  EXPECT_EQ(cell(table, 0, "fastest"), "dilated/residue");
  EXPECT_EQ(cell(table, 1, "fastest"), "dilated/linear");
}

TEST(Effects, KeysAreThoseOfTheLongestBranchOrTheWindow) {
  EXPECT_EQ(keys_read(sample::work(2048, {{4096, 4}, {512, 1}})), 512);
  EXPECT_EQ(keys_read(sample::windowed()), 169);
}

TEST(FollowedCounts, NameTheOneThatTheSpeedupFollows) {
  ReportInput falling, mixed;
  for (int i = 0; i < 16; ++i) {
    const double speedup = 0.8 + 0.02 * i;
    add_case(falling, 1024 << i, {{"residue", {speedup, 200.0 - i}}});
    add_case(mixed, 1024 << i, {{"residue", {speedup, 100.0 + i % 2}}});
  }
  EXPECT_EQ(followed_count_sentence(view_of(falling)),
            "The speedup follows the count layout_pages_4k_per_tile (layout): rank correlation -1.00.");
  EXPECT_EQ(cell(followed_counts_table(view_of(falling)), 0, "pairs"), "16");
  EXPECT_NE(followed_count_sentence(view_of(mixed)).find("follows no count"), std::string::npos);
}

TEST(FollowedCounts, LeaveOutWhatIsTimeInOtherWords) {
  ReportInput input;
  for (int i = 0; i < 16; ++i) {
    const double speedup = 0.8 + 0.02 * i;
    add_case(input, 1024 << i, {{"residue", {speedup, 100.0 + i % 2}}});
    for (Record* record : {&input.records[input.records.size() - 2], &input.records.back()}) {
      const double ns = record->time->median_ns;
      record->counters["gpu_time"] = {.value = ns, .unit = "ns", .source = "cupti_range"};
      record->counters["sm_cycles"] = {.value = ns, .unit = "count", .source = "cupti_range"};
      record->counters["ring_compute_ns"] = {.value = ns, .unit = "ns", .source = "measured"};
      record->counters["tensor_pipe_use"] = {.value = 1 / ns, .unit = "percent", .source = "cupti_range"};
    }
  }
  EXPECT_EQ(followed_counts_table(view_of(input)).rows.size(), 1u);
  EXPECT_NE(followed_count_sentence(view_of(input)).find("layout_pages_4k_per_tile"), std::string::npos);
}

TEST(FollowedCounts, SayWhatNeverChangesAndNeedPairs) {
  ReportInput input;
  for (int i = 0; i < 3; ++i) add_case(input, 1024 << i, {{"residue", {1.0 + 0.1 * i, 64}}});
  EXPECT_EQ(cell(followed_counts_table(view_of(input)), 0, "correlation"), "never changes");
  EXPECT_EQ(followed_count_sentence(view_of(input)), "");
  input.records.resize(2);
  EXPECT_TRUE(followed_counts_table(view_of(input)).rows.empty());
}

}  // namespace
}  // namespace hilbench
