// How the records of several processes of a comparison become one.
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "harness/run/settle.hpp"
#include "tests/harness/run/played_worker.hpp"

namespace hilbench {
namespace {

TEST(SettleProcesses, JoinsTheSamplesOfSeveralProcesses) {
  ComparisonTask task = task_of("fine", {"good", "slow"});
  task.measure.processes = 3;
  const auto records = measure_comparison(task);
  EXPECT_EQ(records[1].time->samples_ns.size(), 24u);
  EXPECT_EQ(records[1].time->process_rounds, (std::vector<std::int64_t>{8, 8, 8}));
  EXPECT_DOUBLE_EQ(records[0].time->median_ns, 1e6);
  EXPECT_DOUBLE_EQ(*records[0].tflops, 2.0);
  EXPECT_FALSE(records[0].speedup) << "the reference has none";
}

// One process after the other, each with these joules in its two rounds; none: without a counter.
std::optional<Energy> joined(const std::vector<std::vector<double>>& processes) {
  ComparisonTask task = task_of("energy", {"one"});
  task.records[0].steady_s = 2;
  std::vector<Record> records;
  for (std::size_t process = 0; process < processes.size(); ++process) {
    const TaskRunner runner = [&](const ComparisonTask& share, const std::function<void(const TaskEvent&)>&) {
      TaskResult result;
      result.settled = share.records;
      Record& record = result.settled[0];
      record.time = Timing{.samples_ns = {1e6, 2e6}, .process_rounds = {2}};
      record.energy = Energy{.samples_j = processes[process], .source = "nvml"};
      if (processes[process].empty()) record.energy = Energy{.reason = "no counter"};
      return result;
    };
    records = measure_process(
        task, records, static_cast<std::int64_t>(process), [](const TaskEvent&) {}, runner);
  }
  return records.at(0).energy;
}

TEST(SettleProcesses, JoinsTheTrialsOfEachProtocol) {
  const Protocol one, many = {10, EndTurn::last, CacheState::cold};
  ComparisonTask task = task_of("protocols", {"one"});
  std::vector<Record> records;
  for (std::int64_t process = 0; process < 2; ++process) {
    const TaskRunner runner = [&](const ComparisonTask& share, const std::function<void(const TaskEvent&)>&) {
      TaskResult result;
      result.settled = share.records;
      result.settled[0].time = Timing{.samples_ns = {1e6, 2e6}, .process_rounds = {2}};
      result.settled[0].time->protocols = {{one, {1, 2}, {2}}, {many, {}, {0}}};
      if (process > 0) result.settled[0].time->protocols = {{one, {3}, {1}}, {many, {4}, {1}}};
      return result;
    };
    records = measure_process(
        task, records, process, [](const TaskEvent&) {}, runner);
  }
  const std::vector<ProtocolTimes>& all = records.at(0).time->protocols;
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].trials_ns, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(all[0].process_trials, (std::vector<std::int64_t>{2, 1}));
  EXPECT_EQ(all[1].trials_ns, std::vector<double>{4});
  EXPECT_EQ(all[1].process_trials, (std::vector<std::int64_t>{0, 1}));
}

TEST(SettleProcesses, JoinsTheEnergyOfSeveralProcesses) {
  const std::optional<Energy> all = joined({{1, 3}, {8, 8}});
  ASSERT_TRUE(all);
  EXPECT_EQ(all->samples_j, (std::vector<double>{1, 3, 8, 8}));
  EXPECT_DOUBLE_EQ(all->median_j, 4) << "the geometric mean of 2 and 8";
  for (const auto& processes : {std::vector<std::vector<double>>{{1, 3}, {}}, {{}, {1, 3}}}) {
    const std::optional<Energy> some = joined(processes);
    ASSERT_TRUE(some);
    EXPECT_EQ(some->reason, "no counter");
    EXPECT_TRUE(some->samples_j.empty());
  }
}

TEST(SettleProcesses, EachProcessHasASeedOfItsOwnAndAShareOfBudgetAndCounts) {
  std::vector<ComparisonTask> seen;
  const TaskRunner runner = [&](const ComparisonTask& given, const std::function<void(const TaskEvent&)>&) {
    seen.push_back(given);
    TaskResult result{.settled = given.records};
    for (Record& record : result.settled) {
      record.time.emplace();
      record.time->samples_ns = {1e6};
      record.time->process_rounds = {1};
      record.counters["misses"] = {.value = static_cast<double>(seen.size())};
    }
    return result;
  };
  ComparisonTask task = task_of("fine", {"good", "slow"});
  task.measure.processes = 3;
  task.measure.budget_s = 30;
  std::vector<Record> records;
  for (std::int64_t process = 0; process < 3; ++process)
    records = measure_process(
        task, std::move(records), process, [](const TaskEvent&) {}, runner);
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(seen[0].measure.seed, task.measure.seed);
  EXPECT_NE(seen[1].measure.seed, seen[0].measure.seed);
  EXPECT_NE(seen[2].measure.seed, seen[1].measure.seed);
  for (const ComparisonTask& each : seen) {
    EXPECT_EQ(each.measure.budget_s, 10);
    EXPECT_EQ(each.counts, 2) << "three times two are at least five";
  }
  EXPECT_EQ(records[0].counters.at("misses").counts, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(records[0].counters.at("misses").value, 2);
}

// Measures by two processes. The second one finds kSecond in its environment.
std::vector<Record> measure_twice(ComparisonTask task) {
  task.measure.processes = 2;
  int workers = 0;
  const auto count_workers = [&](const TaskEvent& event) {
    if (event.phase == Phase::prepare && ++workers == 1) ::setenv(kSecond, "1", 1);
  };
  std::vector<Record> records = measure_comparison(task, count_workers);
  ::unsetenv(kSecond);
  return records;
}

TEST(SettleProcesses, FailsAVariantThatIsWrongInALaterProcess) {
  const std::vector<Record> records = measure_twice(task_of("second", {"good", "bad"}));
  EXPECT_EQ(records[0].status, Status::ok);
  EXPECT_EQ(records[1].status, Status::failed);
  EXPECT_FALSE(records[1].speedup);
  EXPECT_FALSE(records[1].time) << "a wrong variant has no time";
}

// The system may give other pages to a later process. A skipped record with a time cannot be read again.
TEST(SettleProcesses, SkipsAVariantThatIsSkippedInALaterProcess) {
  const std::vector<Record> records = measure_twice(task_of("pages", {"good", "bad"}));
  EXPECT_EQ(records[0].status, Status::ok);
  EXPECT_EQ(records[1].status, Status::skipped);
  EXPECT_EQ(records[1].reason, "other pages");
  EXPECT_FALSE(records[1].time);
  EXPECT_FALSE(records[1].verify);
}

TEST(SettleProcesses, GivesNoVerdictWhereOthersUsedTheDevice) {
  const auto records = measure_comparison(task_of("crowd", {"good", "slow"}));
  EXPECT_EQ(records[1].status, Status::ok);
  EXPECT_TRUE(records[1].time);
  EXPECT_FALSE(records[1].speedup);
}

TEST(SettleProcesses, GivesNoVerdictWhereOthersUsedTheDeviceInALaterProcess) {
  const std::vector<Record> records = measure_twice(task_of("late crowd", {"good", "slow"}));
  EXPECT_EQ(foreign_processes(records[1]), 2);
  EXPECT_FALSE(records[1].speedup);
}

TEST(SettleProcesses, WhatAnyProcessSawOfTheDeviceIsKept) {
  const std::vector<Record> records = measure_twice(task_of("hot", {"good"}));
  const nlohmann::json& state = (*records[0].environment)["device_state"];
  EXPECT_EQ(state["throttle"], (nlohmann::json{"idle", "sw_thermal"}));
  EXPECT_EQ(state["temperature_c"], (nlohmann::json{40, 80}));
  EXPECT_EQ(state["power_w"], (nlohmann::json{100, 200}));
  EXPECT_EQ(state["foreign_processes"], 1);
}

}  // namespace
}  // namespace hilbench
