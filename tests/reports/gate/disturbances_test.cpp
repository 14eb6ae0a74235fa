#include "reports/gate/disturbances.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace hilbench {
namespace {

using nlohmann::json;

Record seen(double busy, double steal_s = 0, const std::string& case_id = "case") {
  Record record;
  record.case_id = case_id;
  record.environment = {
      {"host", {{"cores", 4}}},
      {"processes", {{{"other_busy_cores", busy}, {"steal_s", steal_s}, {"seconds", 2.0}}}}};
  return record;
}

std::vector<std::string> sentences(const std::vector<Record>& records) {
  Disturbances found;
  found.add(records);
  return found.sentences(cores_of(records));
}

TEST(Disturbances, OthersBeyondTheirShareOfTheCoresAreSaid) {
  EXPECT_TRUE(sentences({seen(0.6), seen(0.6, 0.4, "b")}).empty()) << "just allowed";
  EXPECT_EQ(sentences({seen(0.7)}), std::vector<std::string>{"other programs kept 0.7 of 4 cores busy"});
  EXPECT_EQ(sentences({seen(0, 0.5)}), std::vector<std::string>{"the hypervisor took 0.2 of 4 cores away"});
}

TEST(Disturbances, TheProcessesOfAComparisonCountOnce) {
  std::vector<Record> records(9, seen(4));
  for (const char* each : {"b", "c"}) records.push_back(seen(0, 0, each));
  EXPECT_TRUE(sentences(records).empty()) << "one comparison of three was busy";
}

TEST(Disturbances, TooFewCoresInTheMedianProcessAreSaid) {
  std::vector<Record> records;
  for (const auto& [share, throttled_s] : {std::pair{0.4, 0.0}, std::pair{0.5, 0.5}, std::pair{1.0, 0.5}}) {
    records.push_back(seen(0, 0, fmt::format("case {}", share)));
    records.back().work.device = DeviceKind::cpu;
    records.back().time.emplace();
    json& process = (*records.back().environment)["processes"][0];
    process["processor_share"] = share;
    process["throttled_s"] = throttled_s;
  }
  EXPECT_EQ(sentences(records), (std::vector<std::string>{"the processes had only 50 % of their cores",
                                                          "a quota throttled the processes"}));
  for (Record& record : records) record.work.device = DeviceKind::cuda;
  EXPECT_TRUE(sentences(records).empty());
}

TEST(Disturbances, TheGpuIsSaidAtOnce) {
  Record shared, hot, capped;
  shared.environment = {{"device_state", {{"foreign_processes", 1}}}};
  hot.environment = {{"device_state", {{"throttle", {"hardware thermal"}}}}};
  capped.environment = {{"device_state", {{"throttle", {"power cap"}}}}};
  EXPECT_EQ(sentences({shared}), std::vector<std::string>{"another process used the GPU"});
  EXPECT_EQ(sentences({hot}), std::vector<std::string>{"the GPU was throttled: hardware thermal"});
  EXPECT_TRUE(sentences({capped}).empty());
}

TEST(Disturbances, WhatNobodySaysIsNotKnown) {
  Disturbances found;
  Record silent = seen(0), odd = seen(0);
  silent.environment = nullptr;
  (*odd.environment)["processes"] =
      json::array({1, {{"other_busy_cores", nullptr}, {"seconds", 0}, {"steal_s", 1}}});
  const std::vector<Record> records = {silent, odd};
  found.add(records);
  EXPECT_FALSE(found.known());
  EXPECT_TRUE(found.sentences(cores_of(records)).empty());
  EXPECT_EQ(cores_of(std::vector<Record>{silent}), 0);
}

}  // namespace
}  // namespace hilbench
