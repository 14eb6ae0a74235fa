#include "reports/tables/comparison.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
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
    (*input.records[i].environment)["device_state"] = {{"foreign_processes", 1}};
    input.records[i].speedup.reset();
  }
  EXPECT_NE(to_markdown(document_without_pictures(input)).find(words), std::string::npos);
}

TEST(Tables, ShowJoulesPerRunOfSteadySamplesAlone) {
  ReportInput input = sample::input();
  const auto text = [&] { return to_markdown(document_without_pictures(input)); };
  EXPECT_EQ(text().find("J per run"), std::string::npos);
  EXPECT_EQ(text().find("steady round"), std::string::npos);
  for (Record& record : input.records) record.steady_s = 2;
  input.records[0].energy = Energy{.median_j = 12.345, .samples_j = std::vector<double>(12, 12.345)};
  input.records[1].energy = Energy{.reason = "no counter"};
  EXPECT_NE(text().find("| steady | J per run |"), std::string::npos);
  EXPECT_NE(text().find("| 2 s | 12.35 |"), std::string::npos) << text();
  EXPECT_NE(text().find("| 2 s | unknown |"), std::string::npos);
  EXPECT_NE(text().find("In a steady round"), std::string::npos);
}

TEST(Tables, AShareAboveThePeakSaysWhy) {
  Record record = sample::record(sample::work(8192, {{4096, 2}}), "dilated", "linear");
  CaseView where;
  record.tflops = 1.04;
  EXPECT_EQ(peak_share_text(where, record), "");
  where.peak_flops_per_s = 1e12;
  EXPECT_EQ(peak_share_text(where, record), "104.0 %");
  record.tflops = 1.67;
  EXPECT_EQ(peak_share_text(where, record), "167.0 % (peak measured too low)");
  record.variant_id = "peak";
  record.tflops = 0.6;
  EXPECT_EQ(peak_share_text(where, record), "");
  EXPECT_EQ(rate_of_record(where, record), "1.000 TFLOP/s judges; 600.0 GFLOP/s in these rounds");
  record.tflops = 1;
  EXPECT_EQ(rate_of_record(where, record), "1.000 TFLOP/s");
}

TEST(Tables, AVerdictNamesItsMarginAndSaysIfOneProcessMeasured) {
  Record record = sample::record(sample::work(8192, {{4096, 2}}), "dilated", "hilbert");
  sample::time(record, 1, 1, 0);
  record.speedup =
      Measured{.processes = 5, .verdict = Verdict::slower, .margin = 0.01, .against = "dilated/linear"};
  EXPECT_EQ(verdict_text(record), "slower");
  record.speedup->verdict = Verdict::equivalent;
  EXPECT_EQ(verdict_text(record), "equivalent within 1 %");
  record.speedup->margin = 0.0234;
  EXPECT_EQ(verdict_text(record), "equivalent within 2.34 %");
  record.speedup->processes = 1;
  record.speedup->verdict = Verdict::inconclusive;
  EXPECT_EQ(verdict_text(record), "inconclusive, within one process");
  record.speedup->verdict = Verdict::different_function;
  EXPECT_EQ(verdict_text(record), "different function");
  record.speedup.reset();
  EXPECT_EQ(verdict_text(record), "");
  (*record.environment)["device_state"] = {{"foreign_processes", 1}};
  EXPECT_EQ(verdict_text(record), "withheld: another process used the GPU");
}

}  // namespace
}  // namespace hilbench
