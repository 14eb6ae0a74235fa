#include "tests/harness/run/played_worker.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>

#include "harness/run/settle.hpp"
#include "kernels/base/process/pipe.hpp"
#include "reports/view/judge.hpp"

namespace hilbench {
namespace {

constexpr double kTimeout_s = 1.0;

Record variant(const std::string& fate, const std::string& id) {
  Record record;
  record.sweep = fate;
  record.work.kv_heads = 8;
  record.work.device = DeviceKind::cpu;
  record.variant.change().name = id;
  record.variant_id = id;
  record.case_id = "case";
  record.kernel = "dilated_cpu";
  record.flops = 2e9;
  return record;
}

// Starts a process in a session of its own, whose parent ends. It lives for 60 s and holds the file that
// kLeft names locked.
void leave_a_session_behind() {
  Pipe locked;
  if (::fork() == 0) {
    ::setsid();
    if (::fork() != 0) ::_exit(0);
    const int file = ::open(::getenv(kLeft), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    ::flock(file, LOCK_EX);
    locked.close_read();
    locked.close_write();
    ::sleep(60);
    ::_exit(0);
  }
  locked.close_write();
  read_all(locked.read_end());
}

// Measures every variant: 1 ms, and 2 ms for "slow". The one named "bad" meets the fate.
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
    if (fate == "second" && record.variant_id == "bad" && ::getenv(kSecond) != nullptr) {
      record.status = Status::failed;
      record.reason = "wrong in the second process";
    } else if (fate == "pages" && record.variant_id == "bad" && ::getenv(kSecond) != nullptr) {
      record.status = Status::skipped;
      record.reason = "other pages";
    } else {
      Timing timing;
      timing.samples_ns.assign(8, record.variant_id == "slow" ? 2e6 : 1e6);
      timing.process_rounds = {8};
      record.time = timing;
      record.verify = Verification{.before = {.rows = 1}};
      const bool second = ::getenv(kSecond) != nullptr;
      if (fate == "crowd" || (fate == "late crowd" && second))
        (*record.environment)["device_state"] = {{"foreign_processes", 2}};
      if (fate == "hot")
        (*record.environment)["device_state"] = {
            {"throttle", second ? nlohmann::json{"sw_thermal"} : nlohmann::json{"idle"}},
            {"temperature_c", {second ? 60 : 40, second ? 80 : 70}},
            {"power_w", second ? nlohmann::json({100, 200}) : nlohmann::json()},
            {"foreign_processes", second ? 0 : 1}};
    }
    tell({.phase = Phase::count, .variant_id = record.variant_id, .record = record});
  }
  return 0;
}

}  // namespace

ComparisonTask task_of(const std::string& fate, const std::vector<std::string>& ids) {
  ComparisonTask task;
  for (const std::string& id : ids) task.records.push_back(variant(fate, id));
  task.reference = 0;
  task.measure.timeout_s = kTimeout_s;
  return task;
}

std::vector<Record> measure_comparison(const ComparisonTask& task,
                                       const std::function<void(const TaskEvent&)>& progress) {
  std::vector<Record> records;
  for (std::int64_t process = 0; process < task.measure.processes; ++process)
    records = measure_process(task, std::move(records), process, progress);
  for (Record& record : records) record.reference = task.records.front().variant_id;
  judge(records);
  return records;
}

}  // namespace hilbench

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "worker") == 0)
    return hilbench::play_worker(std::atoi(argv[2]), std::atoi(argv[3]));
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
