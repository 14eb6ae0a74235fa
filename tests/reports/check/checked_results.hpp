// Results that `hilbench check` has nothing against, for tests that spoil them.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "reports/check/check.hpp"

namespace hilbench::checked {

inline nlohmann::json environment() {
  nlohmann::json process = {{"other_busy_cores", 0.1}, {"steal_s", 0.0},     {"seconds", 1.0},
                            {"processor_share", 0.97}, {"throttled_s", 0.0}, {"quota_cores", nullptr}};
  return {{"host", {{"cpu", "Example 9654"}, {"cores", 4}, {"kernel", "Linux 6.1 x86_64"}}},
          {"device", nullptr},
          {"build", {{"commit", "abc1234"}, {"compiler", "GNU 12.2.0"}}},
          {"processes", nlohmann::json::array({process})}};
}

inline void name_anew(Record& record) {
  record.case_id = case_id(record.work);
  record.variant_id = variant_id(record.variant);
  if (record.twin) record.variant_id += kTwinSuffix;
}

inline Record record_of(int number, const std::string& order) {
  Record record;
  record.work.device = DeviceKind::cpu;
  record.work.sequence_length = 64;
  record.work.pattern = {{64, 1}};
  record.work.heads = record.work.kv_heads = number + 1;
  record.case_id = case_id(record.work);
  record.variant.change().name = "dilated";
  record.variant.change().order = order;
  record.variant_id = "dilated/" + order;
  record.reference = "dilated/linear";
  record.environment = environment();
  record.verify = Verification{.before = {.rows = 256}, .probed_rows = 256, .after = RowCheck{.rows = 288}};
  record.time.emplace();
  record.time->samples_ns.assign(20, 1e6);
  record.time->process_rounds.assign(10, 2);
  if (order != "linear") {
    record.speedup = Measured{.ci = {0.99, 1.01}, .against = record.reference};
    record.permute_ns = 1e5;
  }
  return record;
}

inline Record twin_of(int number) {
  Record twin = record_of(number, "linear");
  twin.twin = true;
  twin.variant_id += "@twin";
  twin.speedup = Measured{.ci = {0.99, 1.01}, .against = twin.reference};
  return twin;
}

// Results that may be published: `cases` cases of linear, hilbert, random and a twin.
inline ReportInput results(int cases = 2) {
  ReportInput input;
  input.source = "results/good";
  input.meta = {
      {"command", "hilbench run sweeps/quick.yaml --filter '/dilated/(linear|hilbert|random)$' -o out"},
      {"sweep_file", "sweeps/quick.yaml"}};
  for (int number = 0; number < cases; ++number) {
    for (const char* order : {"linear", "hilbert", "random"})
      input.records.push_back(record_of(number, order));
    input.records.push_back(twin_of(number));
  }
  return input;
}

inline const PrivateNames kNames{.host = "marys-box", .home = "/users/mary"};

inline std::string text_of(const ReportInput& input) {
  return check_text(check_results(input, kNames), input.source.string());
}

// The texts of all lines of a kind.
inline std::vector<std::string> texts(const ReportInput& input, CheckKind kind) {
  std::vector<std::string> found;
  for (const CheckLine& line : check_results(input, kNames))
    if (line.kind == kind) found.push_back(line.text);
  return found;
}

// One rule alone is not ok, and its text starts with `start` and holds `part`.
inline void expect_only(const ReportInput& input, const std::string& start, const std::string& part = "") {
  const std::vector<std::string> found = texts(input, CheckKind::not_ok);
  ASSERT_EQ(found.size(), 1u) << text_of(input);
  EXPECT_TRUE(found.front().starts_with(start)) << found.front();
  EXPECT_NE(found.front().find(part), std::string::npos) << found.front();
  EXPECT_FALSE(may_be_published(check_results(input, kNames)));
}

}  // namespace hilbench::checked
