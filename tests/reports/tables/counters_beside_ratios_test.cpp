#include "reports/tables/counters_beside_ratios.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/reports/sample_records.hpp"

namespace hilbench {
namespace {

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
  ASSERT_EQ(table.rows.size(), 2u) << "variants without counters are left out";
  EXPECT_NE(to_markdown(table).find("| DRAM bytes / compulsory bytes |"), std::string::npos);
  EXPECT_EQ(to_markdown(table).find("last-level"), std::string::npos)
      << "columns without values are left out";
  const std::string said = explanation(view.cases[0]);
  EXPECT_TRUE(said.starts_with("dilated/hilbert against dilated/linear: speedup ")) << said;
  EXPECT_NE(said.find("(faster, within one process; random order, the control: 0.9"), std::string::npos)
      << said;
  EXPECT_NE(
      said.find("slower, within one process). Counters: DRAM bytes per compulsory byte 2.50 against 2.00"),
      std::string::npos)
      << said;
  EXPECT_NE(said.find("L1 sectors per load request 8.57 against 14.1"), std::string::npos) << said;
}

}  // namespace
}  // namespace hilbench
