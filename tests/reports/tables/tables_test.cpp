#include "reports/tables/tables.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "reports/figures/figures.hpp"
#include "reports/records/stats.hpp"
#include "reports/view/pairing.hpp"
#include "tests/reports/rendered.hpp"
#include "tests/reports/sample_records.hpp"

namespace hilbench {
namespace {

TEST(Tables, SayThatAVerdictIsWithheld) {
  ReportInput input = sample::input();
  const std::string words = "withheld: another process used the GPU";
  EXPECT_EQ(to_markdown(document_without_pictures(input)).find(words), std::string::npos);
  for (const std::size_t i : {0, 1}) {
    input.records[i].environment["device_state"] = {{"foreign_processes", 1}};
    input.records[i].speedup.reset();
  }
  EXPECT_NE(to_markdown(document_without_pictures(input)).find(words), std::string::npos);
}

TEST(Tables, TellWhatExplainsARatio) {
  std::vector<Record> records;
  Case work = sample::work(8192, {{4096, 2}});
  work.device = DeviceKind::cuda;
  sample::add_comparison(records, work, 1);
  for (const std::size_t i : {0, 1}) {
    const auto counter = [](double value) {
      return Counter{.value = value, .source = "cupti_range", .passes = 3};
    };
    records[i].counters["dram_read_bytes"] = counter(i == 0 ? 9e7 : 1.2e8);
    records[i].counters["dram_write_bytes"] = counter(3e7);
    records[i].counters["l2_read_hit_rate"] = counter(0.95);
    records[i].counters["l1_sectors_per_load"] = counter(i == 0 ? 14.1 : 8.57);
  }
  ReportInput input;
  input.records = records;
  const View view = view_of(input);
  const Table table = explained_table(view.cases);
  ASSERT_EQ(table.rows.size(), 2u) << "variants that nothing counted are left out";
  EXPECT_NE(to_markdown(table).find("| DRAM bytes / compulsory |"), std::string::npos);
  EXPECT_EQ(to_markdown(table).find("last-level"), std::string::npos)
      << "columns that nothing fills are left out";
  const std::string said = explanation(view.cases[0]);
  EXPECT_TRUE(said.starts_with("dilated/hilbert at ")) << said;
  EXPECT_NE(said.find("of dilated/linear (faster; random order, the control, at 0.9"), std::string::npos)
      << said;
  EXPECT_NE(said.find("slower): DRAM bytes per compulsory byte 2.50 against 2.00"), std::string::npos)
      << said;
  EXPECT_NE(said.find("L1 sectors per load request 8.57 against 14.1"), std::string::npos) << said;
}

TEST(Tables, KernelsStandAgainstEveryRivalThatComputesTheCase) {
  std::vector<Record> records;
  sample::add_comparison(records, sample::work(8192, {{4096, 2}}), 1);
  ReportInput input;
  input.records = records;
  const View view = view_of(input);
  const Table table = rivals_table(view);
  ASSERT_EQ(table.rows.size(), 1u)
      << "gemm alone: peak computes nothing, hilbert is no kernel in linear order";
  EXPECT_EQ(table.rows[0][3].text, "gemm");
  EXPECT_NEAR(std::stod(table.rows[0][4].text), 2.4, 0.02);
  EXPECT_NE(to_markdown(rivals_page_table(view)).find("| gemm |"), std::string::npos);
  EXPECT_FALSE(rivals_plot(view)) << "one rival is a column, not a picture";
  Record second = records[5];
  second.variant_id = "other";
  input.records.push_back(second);
  const auto plot = rivals_plot(view_of(input));
  ASSERT_TRUE(plot);
  EXPECT_NE(plot->script.find("title 'other'"), std::string::npos) << plot->script;
}

TEST(Tables, EveryRingOfAKernelStandsAgainstTheRivals) {
  std::vector<Record> records;
  sample::add_comparison(records, sample::work(8192, {{4096, 2}}), 1);
  Record zigzag = records.front();
  ASSERT_EQ(zigzag.variant_id, "dilated/linear");
  zigzag.variant.sharding = Sharding::zigzag;
  zigzag.variant_id = variant_id(zigzag.variant);
  records.push_back(zigzag);
  ReportInput input;
  input.records = records;
  const Table table = rivals_page_table(view_of(input));
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[1][1].text, table.rows[0][1].text + ", zigzag");
}

TEST(Tables, AVerdictSaysWhatOneProcessLeavesOpen) {
  Record record = sample::record(sample::work(8192, {{4096, 2}}), "dilated", "hilbert");
  sample::time(record, 1, 1, 0);
  record.speedup = Speedup{"dilated/linear", 0.995, {0.992, 0.998}, Verdict::slower};
  EXPECT_EQ(verdict_text(record), std::string("slower, ") + std::string(kUnsettled));
  record.time->process_rounds = {4, 4, 4};
  EXPECT_EQ(verdict_text(record), "slower");
  record.time->process_rounds = {12};
  record.speedup->ci = {0.97, 0.98};
  EXPECT_EQ(verdict_text(record), "slower");
  record.speedup.reset();
  EXPECT_EQ(verdict_text(record), "");
  record.environment["device_state"] = {{"foreign_processes", 1}};
  EXPECT_EQ(verdict_text(record), "withheld: another process used the GPU");
}

TEST(Tables, AHeadlineSumsUpTheRowsOfAClaim) {
  const ReportInput input = sample::input();
  const View view = view_of(input);
  const auto claims = load_claims({});  // answers refer to them
  const std::vector<ClaimAnswer> answers = answer_claims(claims, view);
  const Table table = headline_claims_table(answers);
  const Table judged = judged_claims_table(answers);
  EXPECT_GT(table.rows.size(), 2u);
  EXPECT_LT(table.rows.size(), judged.rows.size());
  std::set<std::pair<std::string, std::string>> seen;
  for (const auto& row : table.rows)
    EXPECT_TRUE(seen.insert({row[0].text, row[3].text}).second) << row[0].text;
  for (const auto& row : judged.rows) EXPECT_TRUE(seen.contains({row[0].text, row[2].text})) << row[0].text;
}

TEST(Commands, RepeatEachRowByAnExactCommand) {
  const ReportInput input = sample::input();
  const View view = view_of(input);
  const std::string csv = to_csv(commands_table(view.cases, view));
  EXPECT_NE(csv.find("hilbench run sweeps/quick.yaml --filter "
                     "'^n8192-w2048\\.4096-r1\\.2-h8-d64-fp32-p1-cpu/dilated/hilbert@tokens$' "
                     "--fresh -o results/quick-repeat"),
            std::string::npos)
      << csv;
}

TEST(Commands, RepeatTheOptionsThatChangeCases) {
  ReportInput input = sample::input();
  input.meta["sweep_file"] = "my sweeps/a.yaml";
  input.meta["command"] = "hilbench run a.yaml --axis threads=1,2 --device=cpu -o out";
  const View view = view_of(input);
  EXPECT_NE(to_csv(commands_table(view.cases, view))
                .find("hilbench run 'my sweeps/a.yaml' --axis threads=1,2 --device=cpu --filter "),
            std::string::npos);
}

}  // namespace
}  // namespace hilbench
