// Comparisons measured by workers that misbehave. This program is its own worker: in_worker() starts
// /proc/self/exe, and main() below plays the part that the task's sweep name asks for.
#include "harness/run/settle.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <set>
#include <thread>

#include "harness/process/pipe.hpp"
#include "harness/run/stop_signal.hpp"
#include "kernels/base/error.hpp"
#include "reports/view/judge.hpp"

namespace hilbench {
namespace {

constexpr double kTimeout_s = 1.0;

Record variant(const std::string& sweep, const std::string& id) {
  Record record;
  record.sweep = sweep;
  record.work.kv_heads = 8;
  record.work.device = DeviceKind::cpu;
  record.variant.kernel = id;
  record.variant_id = id;
  record.case_id = "case";
  record.kernel = "dilated_cpu";
  record.flops = 2e9;
  return record;
}

ComparisonTask task_of(const std::string& sweep, const std::vector<std::string>& ids) {
  ComparisonTask task;
  for (const std::string& id : ids) task.records.push_back(variant(sweep, id));
  task.reference = 0;
  task.measure.timeout_s = kTimeout_s;
  return task;
}

void ignore(const TaskEvent&) {}

constexpr const char* kDeaf = "HILBENCH_TEST_DEAF";  // a worker that has this variable reads no task

// Starts a process in a session of its own, whose parent ends. It lives for 60 s and holds the file that
// HILBENCH_TEST_LEFT names locked.
void leave_a_session_behind() {
  Pipe locked;
  if (::fork() == 0) {
    ::setsid();
    if (::fork() != 0) ::_exit(0);
    const int file = ::open(::getenv("HILBENCH_TEST_LEFT"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    ::flock(file, LOCK_EX);
    locked.close_read();
    locked.close_write();
    ::sleep(60);
    ::_exit(0);
  }
  locked.close_write();
  read_all(locked.read_end());
}

// Measures every variant: 1 ms, and 2 ms for "slow". The one named "bad" meets the fate of the sweep's name.
int play_worker(int task_fd, int event_fd) {
  if (::getenv(kDeaf) != nullptr) std::this_thread::sleep_for(std::chrono::seconds(20));
  const ComparisonTask task = task_from_json(nlohmann::json::parse(read_all(task_fd)));
  const std::string fate = task.records.at(0).sweep;
  const auto tell = [&](const TaskEvent& event) { write_all(event_fd, to_json(event).dump() + "\n"); };
  tell({.phase = Phase::prepare});
  if (fate == "between" && task.records.at(0).variant_id == "bad") {
    Record wrong = task.records.at(0);
    wrong.status = Status::invalid;
    wrong.reason = "no map";
    tell({.phase = Phase::verify, .variant_id = wrong.variant_id, .record = wrong});
    std::abort();
  }
  if (fate == "whole") {
    write_all(event_fd, R"({"error":"cannot allocate the inputs"})"
                        "\n");
    return 1;
  }
  for (const Record& record : task.records) {
    tell({.phase = Phase::verify, .variant_id = record.variant_id});
    if (record.variant_id != "bad") continue;
    if (fate == "leave and hang" || fate == "leave and abort" || fate == "leave") leave_a_session_behind();
    if (fate == "leave") return 3;
    if (fate == "leave and abort") std::abort();
    if (fate == "leave and hang") std::this_thread::sleep_for(std::chrono::hours(1));
    if (fate == "linger") {
      ::close(event_fd);
      std::this_thread::sleep_for(std::chrono::seconds(20));
    }
    if (fate == "abort") std::abort();
    if (fate == "segfault") {
      ::signal(SIGSEGV, SIG_DFL);  // a sanitizer catches it otherwise
      ::raise(SIGSEGV);
    }
    if (fate == "kill") ::raise(SIGKILL);
    if (fate == "exit") return 3;
    if (fate == "hang") std::this_thread::sleep_for(std::chrono::hours(1));
    for (volatile bool spinning = fate == "spin"; spinning;) continue;
  }
  for (Record record : task.records) {
    if (fate == "silent" && record.variant_id == "bad") continue;
    if (fate == "second" && record.variant_id == "bad" && ::getenv("HILBENCH_TEST_SECOND") != nullptr) {
      record.status = Status::failed;
      record.reason = "wrong in the second process";
    } else if (fate == "pages" && record.variant_id == "bad" && ::getenv("HILBENCH_TEST_SECOND") != nullptr) {
      record.status = Status::skipped;
      record.reason = "other pages";
    } else {
      Timing timing;
      timing.samples_ns.assign(8, record.variant_id == "slow" ? 2e6 : 1e6);
      timing.process_rounds = {8};
      record.time = timing;
      record.verify = Verification{.rows = 1};
      const bool second = ::getenv("HILBENCH_TEST_SECOND") != nullptr;
      if (fate == "crowd" || (fate == "late crowd" && second))
        record.environment["device_state"] = {{"foreign_processes", 2}};
      if (fate == "hot")
        record.environment["device_state"] = {
            {"throttle", second ? nlohmann::json{"sw_thermal"} : nlohmann::json{"idle"}},
            {"temperature_c", {second ? 60 : 40, second ? 80 : 70}},
            {"power_w", second ? nlohmann::json({100, 200}) : nlohmann::json()},
            {"foreign_processes", second ? 0 : 1}};
    }
    tell({.phase = Phase::count, .variant_id = record.variant_id, .record = record});
  }
  return 0;
}

// All processes of a comparison, judged as a reader of the records judges them.
std::vector<Record> measure_comparison(const ComparisonTask& task,
                                       const std::function<void(const TaskEvent&)>& progress) {
  std::vector<Record> records;
  for (std::int64_t process = 0; process < task.measure.processes; ++process)
    records = measure_process(task, std::move(records), process, progress);
  for (Record& record : records) record.reference = task.records.front().variant_id;
  judge(records);
  return records;
}

class BadWorker : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(BadWorker, CostsTheVariantInFlightAndNothingElse) {
  const auto [fate, reason] = GetParam();
  int told = 0;  // that "bad" is at work: again while the worker is silent
  const auto records = measure_comparison(
      task_of(fate, {"good", "bad", "slow"}),
      [&](const TaskEvent& event) { told += event.variant_id == "bad" && !event.record ? 1 : 0; });
  ASSERT_EQ(records.size(), 3u);
  EXPECT_GT(told, std::set<std::string>({"hang", "spin"}).contains(fate) ? 1 : 0);
  EXPECT_EQ(records[0].status, Status::ok);
  EXPECT_EQ(records[1].status, Status::failed);
  EXPECT_NE(records[1].reason.find(reason), std::string::npos) << records[1].reason;
  EXPECT_EQ(records[2].status, Status::ok);
  ASSERT_TRUE(records[2].speedup);
  EXPECT_DOUBLE_EQ(records[2].speedup->ratio, 0.5);
  EXPECT_EQ(records[2].speedup->verdict, Verdict::slower);
}

INSTANTIATE_TEST_SUITE_P(Fates, BadWorker,
                         testing::Values(std::pair{"abort", "signal 6"}, std::pair{"segfault", "signal 11"},
                                         std::pair{"kill", "memory ran out"}, std::pair{"exit", "status 3"},
                                         std::pair{"hang", "no progress for 1 s"},
                                         std::pair{"spin", "no progress for 1 s"},
                                         std::pair{"linger", "no progress for 1 s"},
                                         std::pair{"silent", "without a result"}));

TEST(Settle, FailsAllWhereTheComparisonItselfCannotBeMade) {
  const auto records = measure_comparison(task_of("whole", {"good", "slow"}), ignore);
  for (const Record& record : records) {
    EXPECT_EQ(record.status, Status::failed);
    EXPECT_NE(record.reason.find("cannot allocate the inputs"), std::string::npos) << record.reason;
  }
}

TEST(Settle, BlamesNobodyForADeathBetweenTwoVariants) {
  const auto records = measure_comparison(task_of("between", {"bad", "good", "slow"}), ignore);
  EXPECT_EQ(records[0].status, Status::invalid);
  EXPECT_EQ(records[1].status, Status::ok) << records[1].reason;
  EXPECT_EQ(records[2].status, Status::ok) << records[2].reason;
}

TEST(Settle, JoinsTheSamplesOfSeveralProcesses) {
  ComparisonTask task = task_of("fine", {"good", "slow"});
  task.measure.processes = 3;
  const auto records = measure_comparison(task, ignore);
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
    records = measure_process(task, records, static_cast<std::int64_t>(process), ignore, runner);
  }
  return records.at(0).energy;
}

TEST(Settle, JoinsTheEnergyOfSeveralProcesses) {
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

TEST(Settle, EachProcessHasASeedOfItsOwnAndAShareOfBudgetAndCounts) {
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
    records = measure_process(task, std::move(records), process, ignore, runner);
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

// Measures by two processes. The second one finds HILBENCH_TEST_SECOND in its environment.
std::vector<Record> measure_twice(ComparisonTask task) {
  task.measure.processes = 2;
  int workers = 0;
  const auto count_workers = [&](const TaskEvent& event) {
    if (event.phase == Phase::prepare && ++workers == 1) ::setenv("HILBENCH_TEST_SECOND", "1", 1);
  };
  std::vector<Record> records = measure_comparison(task, count_workers);
  ::unsetenv("HILBENCH_TEST_SECOND");
  return records;
}

TEST(Settle, FailsAVariantThatIsWrongInALaterProcess) {
  const std::vector<Record> records = measure_twice(task_of("second", {"good", "bad"}));
  EXPECT_EQ(records[0].status, Status::ok);
  EXPECT_EQ(records[1].status, Status::failed);
  EXPECT_FALSE(records[1].speedup);
  EXPECT_FALSE(records[1].time) << "a wrong variant has no time";
}

// The system may give other pages to a later process. A skipped record with a time cannot be read again.
TEST(Settle, SkipsAVariantThatIsSkippedInALaterProcess) {
  const std::vector<Record> records = measure_twice(task_of("pages", {"good", "bad"}));
  EXPECT_EQ(records[0].status, Status::ok);
  EXPECT_EQ(records[1].status, Status::skipped);
  EXPECT_EQ(records[1].reason, "other pages");
  EXPECT_FALSE(records[1].time);
  EXPECT_FALSE(records[1].verify);
}

TEST(Settle, GivesNoVerdictWhereOthersUsedTheDevice) {
  const auto records = measure_comparison(task_of("crowd", {"good", "slow"}), ignore);
  EXPECT_EQ(records[1].status, Status::ok);
  EXPECT_TRUE(records[1].time);
  EXPECT_FALSE(records[1].speedup);
}

TEST(Settle, GivesNoVerdictWhereOthersUsedTheDeviceInALaterProcess) {
  const std::vector<Record> records = measure_twice(task_of("late crowd", {"good", "slow"}));
  EXPECT_EQ(foreign_processes(records[1]), 2);
  EXPECT_FALSE(records[1].speedup);
}

TEST(Settle, WhatAnyProcessSawOfTheDeviceIsKept) {
  const std::vector<Record> records = measure_twice(task_of("hot", {"good"}));
  const nlohmann::json& state = records[0].environment["device_state"];
  EXPECT_EQ(state["throttle"], (nlohmann::json{"idle", "sw_thermal"}));
  EXPECT_EQ(state["temperature_c"], (nlohmann::json{40, 80}));
  EXPECT_EQ(state["power_w"], (nlohmann::json{100, 200}));
  EXPECT_EQ(state["foreign_processes"], 1);
}

// More than a pipe holds.
ComparisonTask large_task() {
  std::vector<std::string> ids;
  for (int i = 0; i < 200; ++i) ids.push_back("variant" + std::to_string(i));
  ComparisonTask task = task_of("fine", ids);
  EXPECT_GT(to_json(task).dump().size(), std::size_t{1} << 17);
  return task;
}

TEST(Settle, GivesALargeTaskToAWorkerThatReads) {
  for (const Record& record : measure_comparison(large_task(), ignore)) EXPECT_EQ(record.status, Status::ok);
}

TEST(Settle, StopsAWorkerThatDoesNotReadItsTask) {
  ::setenv(kDeaf, "1", 1);
  const auto begin = std::chrono::steady_clock::now();
  const auto records = measure_comparison(large_task(), ignore);
  ::unsetenv(kDeaf);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  for (const Record& record : records) EXPECT_EQ(record.status, Status::failed);
  EXPECT_EQ(records[0].reason, "prepare: no progress for 1 s: the worker counts as hung and was stopped");
}

class LeftBehind : public testing::TestWithParam<const char*> {};

TEST_P(LeftBehind, EndsWithTheWorkerInWhateverSessionItIs) {
  std::string file = testing::TempDir() + "hilbench_left_XXXXXX";
  const int own = ::mkstemp(file.data());
  ASSERT_GE(own, 0);
  ::setenv("HILBENCH_TEST_LEFT", file.c_str(), 1);
  measure_comparison(task_of(GetParam(), {"bad"}), ignore);
  EXPECT_EQ(::flock(own, LOCK_EX | LOCK_NB), 0) << "a process that the worker started still lives";
  ::unsetenv("HILBENCH_TEST_LEFT");
  ::close(own);
  ::unlink(file.c_str());
}

INSTANTIATE_TEST_SUITE_P(Ends, LeftBehind, testing::Values("leave", "leave and abort", "leave and hang"));

// Runs in a process of its own: the signal stays noted.
void interrupt_the_deaf_and_exit() {
  catch_stop_signals();
  ::setenv(kDeaf, "1", 1);
  std::thread([] {
    ::sleep(1);
    ::kill(::getpid(), SIGTERM);
  }).detach();
  ComparisonTask task = large_task();
  task.measure.timeout_s = 300;
  const auto begin = std::chrono::steady_clock::now();
  try {
    measure_comparison(task, ignore);
  } catch (const Interrupted&) {
    ::_exit(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10) ? 42 : 1);
  }
  ::_exit(2);
}

TEST(Settle, StopsOnASignalThoughTheWorkerDoesNotReadItsTask) {
  EXPECT_EXIT(interrupt_the_deaf_and_exit(), testing::ExitedWithCode(42), "");
}

// Runs in a process of its own: the signal stays noted.
void interrupt_and_exit() {
  catch_stop_signals();
  bool worked = false;
  const auto interrupt = [&](const TaskEvent&) {
    worked = true;
    ::kill(::getpid(), SIGINT);
  };
  try {
    measure_comparison(task_of("hang", {"bad"}), interrupt);
  } catch (const Interrupted&) {
    const bool no_child_left = ::waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD;
    ::_exit(worked && no_child_left && stop_signal() == SIGINT ? 42 : 1);
  }
  ::_exit(2);
}

TEST(Settle, StopsAndLeavesNoWorkerBehindOnASignal) {
  EXPECT_EXIT(interrupt_and_exit(), testing::ExitedWithCode(42), "");
}

}  // namespace
}  // namespace hilbench

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "worker") == 0)
    return hilbench::play_worker(std::atoi(argv[2]), std::atoi(argv[3]));
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
