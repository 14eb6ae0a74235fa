#include "reports/view/view.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "tests/reports/sample_records.hpp"

namespace hilbench {
namespace {

TEST(Peaks, AreTheHighestOfTheMachine) {
  ReportInput input;
  for (const std::int64_t length : {8192, 16384})
    sample::add_comparison(input.records, sample::work(length, {{4096, 2}}), 1);
  for (Record& record : input.records)
    if (record.variant_id == "peak" && record.work.sequence_length == 8192)
      record.tflops = 0.01;  // disturbed
  const auto peak_of = [&](std::size_t i) { return view_of(input).cases.at(i).peak_flops_per_s; };
  EXPECT_DOUBLE_EQ(peak_of(0).value(), 0.366e12);
  EXPECT_DOUBLE_EQ(peak_of(1).value(), 0.366e12);
  for (Record& record : input.records)
    if (record.work.sequence_length == 8192 && record.variant_id == "peak")
      record.counters["copy_bytes_per_s"].value = 1e9;
  EXPECT_DOUBLE_EQ(view_of(input).cases.at(0).copy_bytes_per_s.value(), 2.4e10);
  const auto with_change = [&](const std::function<void(Record&)>& change) {
    const std::vector<Record> kept = input.records;
    for (Record& record : input.records)
      if (record.work.sequence_length == 8192) change(record);
    const double peak = peak_of(0).value();
    input.records = kept;
    return peak;
  };
  EXPECT_DOUBLE_EQ(with_change([](Record& record) { record.threads = 1; }), 0.01e12) << "of fewer threads";
  EXPECT_DOUBLE_EQ(with_change([](Record& record) { (*record.environment)["host"]["cpu"] = "another"; }),
                   0.01e12);
  EXPECT_DOUBLE_EQ(
      with_change([](Record& record) { (*record.environment)["library"]["bf16_products"] = "amx"; }),
      0.01e12);
  EXPECT_DOUBLE_EQ(with_change([](Record& record) { record.environment = nullptr; }), 0.01e12);
  EXPECT_DOUBLE_EQ(with_change([](Record& record) { (*record.environment)["library"] = 5; }), 0.366e12);
  EXPECT_DOUBLE_EQ(with_change([](Record& record) { record.work.device = DeviceKind::cuda; }), 0.01e12)
      << "a GPU runs as its power allows";
  std::erase_if(input.records, [](const Record& record) {
    return record.variant_id == "peak" && record.work.sequence_length == 8192;
  });
  EXPECT_FALSE(peak_of(0)) << "where no peak was asked for, none stands";
}

TEST(Peaks, AreNotBelowWhatJudgedARecord) {
  ReportInput input;
  sample::add_comparison(input.records, sample::work(8192, {{4096, 2}}), 1);
  input.records[0].judging_peak = 0.2e12;
  EXPECT_DOUBLE_EQ(view_of(input).cases[0].peak_flops_per_s.value(), 0.366e12);
  input.records[0].judging_peak = 0.5e12;
  EXPECT_DOUBLE_EQ(view_of(input).cases[0].peak_flops_per_s.value(), 0.5e12) << "`peak` was disturbed";
  std::erase_if(input.records, [](const Record& record) { return record.variant_id == "peak"; });
  EXPECT_FALSE(view_of(input).cases[0].peak_flops_per_s) << "a glance is no roof";
}

TEST(View, LeavesTwinsOut) {
  ReportInput input = sample::input();
  const View without = view_of(input);
  Record twin = input.records[0];
  twin.twin = true;
  twin.variant_id += "@twin";
  input.records.push_back(twin);
  const View view = view_of(input);
  EXPECT_EQ(view.record_count, without.record_count);
  EXPECT_EQ(view.status_counts, without.status_counts);
  EXPECT_EQ(view.twins.size(), 1u);
  for (const CaseView& of_case : view.cases)
    for (const Record* record : of_case.records) EXPECT_FALSE(record->twin);
}

}  // namespace
}  // namespace hilbench
