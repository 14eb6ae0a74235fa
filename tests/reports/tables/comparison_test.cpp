#include "reports/tables/comparison.hpp"

#include <gtest/gtest.h>

#include <string>

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

}  // namespace
}  // namespace hilbench
