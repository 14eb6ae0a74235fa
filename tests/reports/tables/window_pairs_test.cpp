#include "reports/tables/window_pairs.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "reports/findings/sentences.hpp"
#include "tests/reports/sample_records.hpp"

namespace hilbench {
namespace {

std::vector<Record> window_records() {
  std::vector<Record> records;
  sample::add_comparison(records, sample::work(8192, {{4096, 2}}), 1);
  for (Record& record : records)
    if (record.kernel == records.front().kernel)
      record.pairs =
          Pairs{.needed = 100, .computed = record.variant.kernel().order == "linear" ? 300.0 : 150.0};
  return records;
}

TEST(WindowPairs, SentenceNamesEachOrderAgainstRasterOrder) {
  std::vector<Record> records = window_records();
  ReportInput input;
  input.records = records;
  const std::string said = windows_sentence(view_of(input));
  EXPECT_EQ(said.find("Windows on grids, time of raster order / time of the order, in 1 case "), 0u) << said;
  EXPECT_NE(said.find("3.00 in raster order"), std::string::npos) << said;
  EXPECT_NE(said.find("(1.50)"), std::string::npos) << said;
  EXPECT_NE(said.find(" dilated/hilbert "), std::string::npos) << said;
  EXPECT_EQ(said.find(" dilated/linear "), std::string::npos)
      << "raster order is what others are held against";
}

TEST(WindowPairs, NothingIsSaidWithoutRasterOrderOrWindows) {
  std::vector<Record> records = window_records();
  ReportInput input;
  for (Record record : records)
    if (record.variant.kernel().order != "linear") input.records.push_back(record);
  EXPECT_EQ(windows_sentence(view_of(input)), "");
  input.records = records;
  for (Record& record : input.records) record.pairs.reset();
  EXPECT_EQ(windows_sentence(view_of(input)), "");
}

}  // namespace
}  // namespace hilbench
