// Workers get their task, and nothing of them is left behind.
#include "harness/run/worker_process.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <thread>

#include "harness/run/stop_signal.hpp"
#include "kernels/base/text/error.hpp"
#include "tests/harness/run/played_worker.hpp"

namespace hilbench {
namespace {

// More than a pipe holds.
ComparisonTask large_task() {
  std::vector<std::string> ids;
  for (int i = 0; i < 200; ++i) ids.push_back("variant" + std::to_string(i));
  ComparisonTask task = task_of("fine", ids);
  EXPECT_GT(to_json(task).dump().size(), std::size_t{1} << 17);
  return task;
}

TEST(WorkerProcess, GivesALargeTaskToAWorkerThatReads) {
  ComparisonTask task = large_task();
  task.measure.timeout_s = 60;  // a sanitizer takes its time to read it
  for (const Record& record : measure_comparison(task)) EXPECT_EQ(record.status, Status::ok);
}

TEST(WorkerProcess, StopsAWorkerThatDoesNotReadItsTask) {
  ::setenv(kDeaf, "1", 1);
  const auto begin = std::chrono::steady_clock::now();
  const auto records = measure_comparison(large_task());
  ::unsetenv(kDeaf);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  for (const Record& record : records) EXPECT_EQ(record.status, Status::failed);
  EXPECT_EQ(records[0].reason, "prepare: no progress for 1 s: the worker counts as hung and was stopped");
}

// As a gate drives two builds: a thread for each worker.
TEST(WorkerProcess, TwoAreWatchedAtOnce) {
  std::vector<std::vector<Record>> measured(2);
  const auto measure = [&](std::size_t side) {
    for (int i = 0; i < 5; ++i)
      for (Record& record : measure_comparison(task_of("fine", {"good", "slow"})))
        measured[side].push_back(std::move(record));
  };
  std::thread other(measure, 1);
  measure(0);
  other.join();
  for (const std::vector<Record>& records : measured) {
    ASSERT_EQ(records.size(), 10u);
    for (const Record& record : records) EXPECT_EQ(record.status, Status::ok) << record.reason;
  }
}

class LeftBehind : public testing::TestWithParam<const char*> {};

TEST_P(LeftBehind, EndsWithTheWorkerInWhateverSessionItIs) {
  std::string file = testing::TempDir() + "hilbench_left_XXXXXX";
  const int own = ::mkstemp(file.data());
  ASSERT_GE(own, 0);
  ::setenv(kLeft, file.c_str(), 1);
  measure_comparison(task_of(GetParam(), {"bad"}));
  EXPECT_EQ(::flock(own, LOCK_EX | LOCK_NB), 0) << "a process that the worker started still lives";
  ::unsetenv(kLeft);
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
    measure_comparison(task);
  } catch (const Interrupted&) {
    ::_exit(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10) ? 42 : 1);
  }
  ::_exit(2);
}

TEST(WorkerProcess, StopsOnASignalThoughTheWorkerDoesNotReadItsTask) {
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

TEST(WorkerProcess, StopsAndLeavesNoWorkerBehindOnASignal) {
  EXPECT_EXIT(interrupt_and_exit(), testing::ExitedWithCode(42), "");
}

}  // namespace
}  // namespace hilbench
