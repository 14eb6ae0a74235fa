#include "reports/tables/rivals.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "reports/view/chain.hpp"
#include "tests/reports/sample_records.hpp"

namespace hilbench {
namespace {

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
}

TEST(Tables, StepsOfAChainAreNoRivals) {
  ReportInput input;
  sample::add_comparison(input.records, sample::work(8192, {{4096, 2}}), 1);
  input.meta["chain"] =
      chain_text({.steps = {{"gemm", ""}, {"dilated/linear", "a kernel"}}, .end = 1, .claimed = {}});
  EXPECT_TRUE(rival_pairs(view_of(input)).empty());
}

TEST(Tables, TheStrongestOfSeveralRivalsIsNamed) {
  ReportInput input;
  const Case work = sample::work(8192, {{4096, 2}});
  sample::add_comparison(input.records, work, 1);  // gemm takes 2.4 times as long as the kernel
  Record sdpa = sample::record(work, "torch_sdpa", "linear", true);
  sample::time(sdpa, 1, 1.2, 3);
  input.records.push_back(sdpa);
  EXPECT_NE(to_markdown(rivals_page_table(view_of(input)))
                .find("| n 8192, 4096/2, h 8, d 64, fp32 | torch\\_sdpa |"),
            std::string::npos)
      << to_markdown(rivals_page_table(view_of(input)));
}

TEST(Tables, EveryRingOfAKernelStandsAgainstTheRivals) {
  std::vector<Record> records;
  sample::add_comparison(records, sample::work(8192, {{4096, 2}}), 1);
  Record zigzag = records.front();
  ASSERT_EQ(zigzag.variant_id, "dilated/linear");
  zigzag.variant.ring.sharding = Sharding::zigzag;
  zigzag.variant_id = variant_id(zigzag.variant);
  records.push_back(zigzag);
  ReportInput input;
  input.records = records;
  const Table table = rivals_page_table(view_of(input));
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.columns[0].key, "work");
  EXPECT_EQ(table.columns[1].key, "gemm") << "the ratio to the rival comes second";
  EXPECT_EQ(table.columns[2].key, "variant");
  EXPECT_EQ(table.rows[1][2].text, table.rows[0][2].text + ", zigzag");
}

}  // namespace
}  // namespace hilbench
