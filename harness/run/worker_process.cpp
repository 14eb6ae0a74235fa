#include "harness/run/worker_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "harness/run/stop_signal.hpp"
#include "kernels/base/process/child_process.hpp"
#include "kernels/base/process/fail_point.hpp"
#include "kernels/base/process/offspring.hpp"
#include "kernels/base/process/pipe.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/base/text/json.hpp"

namespace hilbench {
namespace {

// Passed when the worker has told what begins or has ended.
constexpr std::array kFailPoints = {"told_prepare", "told_verify", "told_time", "told_count"};
static_assert(kFailPoints.size() == kPhases.size());

// Closes a socket that is not needed here any more.
class Closed {
 public:
  explicit Closed(int socket) : socket_(socket) {}
  Closed(const Closed&) = delete;
  Closed& operator=(const Closed&) = delete;
  ~Closed() { now(); }
  void now() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }

 private:
  int socket_;
};

// A worker process. The destructor kills it and waits for its end.
class Worker {
 public:
  Worker(const ComparisonTask& task, const std::filesystem::path& program)
      : turns_(task.turns), task_(to_json(task).dump()) {
    adopt_orphans();
    if (::fcntl(task_pipe_.write_end(), F_SETFL, O_NONBLOCK) != 0)
      throw EnvironmentError({.what = "cannot talk to a worker", .why = std::strerror(errno)});
    start(program, {task.turns, task.fork_server});
    task_pipe_.close_read();
    event_pipe_.close_write();
    turns_.now();  // so that the process at the other end sees the end of the worker
  }

  ~Worker() {
    if (!process_) return;
    process_->kill();
    try {
      reap();
    } catch (const Error& error) {
      std::fputs(fmt::format("hilbench: warning: {}\n", error.what()).c_str(), stderr);
    }
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  int event_fd() const { return event_pipe_.read_end(); }
  int task_fd() const { return task_pipe_.write_end(); }  // -1: nothing is left to write

  // Writes what the pipe takes without waiting: a worker that hangs never reads the rest.
  void write_task() {
    const ssize_t put = ::write(task_fd(), task_.data() + written_, task_.size() - written_);
    if (put < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (put > 0) written_ += static_cast<std::size_t>(put);
    // If the write failed, the worker has already ended; its exit status says more than the broken pipe.
    if (put < 0 || written_ == task_.size()) task_pipe_.close_write();
  }

  bool has_ended() { return process_->wait(0).has_value(); }

  // Waits for the end of the worker, and ends what it leaves behind. Returns why it ended, as a reason; empty
  // for exit status 0.
  std::string reap() {
    const int status = *process_->wait(-1);
    end_orphans();  // what has a group of its own
    process_.reset();
    if (WIFSIGNALED(status)) return signal_reason(WTERMSIG(status));
    if (WEXITSTATUS(status) != 0) return fmt::format("the worker exited with status {}", WEXITSTATUS(status));
    return "";
  }

 private:
  // The workers of this process. Two may run at once, each watched by a thread of its own.
  struct Workers {
    std::mutex mutex;
    std::set<pid_t> running;
  };
  static Workers& workers() {
    static Workers all;
    return all;
  }

  void start(const std::filesystem::path& program, std::initializer_list<int> sockets) {
    std::vector<int> passed = {task_pipe_.read_end(), event_pipe_.write_end()};
    for (const int socket : sockets)
      if (socket >= 0) passed.push_back(socket);
    const std::string task_text = std::to_string(passed[0]), event_text = std::to_string(passed[1]);
    const std::lock_guard lock(workers().mutex);
    children_ = own_children();
    process_.emplace(
        ChildCommand{.words = {program, "worker", task_text, event_text},
                     .name = "hilbench",
                     .inherited = std::move(passed),
                     .own_group = true});  // Ctrl-C reaches only this process, which then ends the worker
    workers().running.insert(process_->id());
  }

  // Ends what the worker left behind; with two workers, also what lost its parent below the other one.
  void end_orphans() {
    const std::lock_guard lock(workers().mutex);
    workers().running.erase(process_->id());
    std::set<pid_t> kept = children_;
    kept.insert(workers().running.begin(), workers().running.end());
    end_children_except(kept);
  }

  static std::string signal_reason(int signal) {
    std::string reason = fmt::format("the worker was killed by signal {} ({})", signal, ::strsignal(signal));
    if (signal == SIGKILL) reason += ", perhaps because memory ran out";
    return reason;
  }

  Closed turns_;  // the first member: whatever throws afterwards, it is closed
  const std::string task_;
  std::set<pid_t> children_;  // of this process before the worker
  std::size_t written_ = 0;   // bytes of the task
  Pipe task_pipe_, event_pipe_;
  std::optional<ChildProcess> process_;  // until it has ended
};

// Gives a worker its task, and reads its lines as they arrive. Every wait ends at the time limit, and by
// Interrupted after a stop signal.
class Conversation {
 public:
  Conversation(Worker& worker, double timeout_s) : worker_(worker), timeout_s_(timeout_s) {}

  enum class Outcome { line, end, timeout };

  // Calls `waiting` every now and then until there is a line.
  Outcome next(std::string& line, const std::function<void()>& waiting) {
    const Clock::time_point deadline = time_limit();
    for (;;) {
      const std::size_t newline = pending_.find('\n');
      if (newline != std::string::npos) {
        line = pending_.substr(0, newline);
        pending_.erase(0, newline + 1);
        return Outcome::line;
      }
      if (stop_signal() != 0) throw Interrupted{};
      const double left = std::chrono::duration<double>(deadline - Clock::now()).count();
      if (left <= 0) return Outcome::timeout;
      if (!wait_readable(std::min(left, kSlice_s))) {
        waiting();
        continue;
      }
      if (!fill()) return Outcome::end;
    }
  }

  // A worker that has closed its pipe may hang all the same, for example in the destructor of a library.
  Outcome wait_for_end() {
    const Clock::time_point deadline = time_limit();
    while (!worker_.has_ended()) {
      if (stop_signal() != 0) throw Interrupted{};
      if (Clock::now() >= deadline) return Outcome::timeout;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return Outcome::end;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kLongestLine = std::size_t{64} << 20;
  static constexpr double kSlice_s = 0.5;  // a stop signal that poll missed is seen after this time

  Clock::time_point time_limit() const {
    return Clock::now() +
           std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(timeout_s_));
  }

  // True if the worker has said something, or has ended. Meanwhile it gets its task.
  bool wait_readable(double seconds) {
    std::array<pollfd, 2> watched = {{{worker_.event_fd(), POLLIN, 0}, {worker_.task_fd(), POLLOUT, 0}}};
    const int ready = ::poll(watched.data(), watched.size(), static_cast<int>(seconds * 1000) + 1);
    if (ready < 0 && errno != EINTR)
      throw EnvironmentError({.what = "cannot watch a worker", .why = std::strerror(errno)});
    if (ready > 0 && watched[1].revents != 0) worker_.write_task();
    return ready > 0 && watched[0].revents != 0;
  }

  bool fill() {
    char chunk[65536];
    const ssize_t got = ::read(worker_.event_fd(), chunk, sizeof chunk);
    if (got < 0 && errno != EINTR)
      throw EnvironmentError({.what = "cannot read from a worker", .why = std::strerror(errno)});
    if (got > 0) pending_.append(chunk, static_cast<std::size_t>(got));
    if (pending_.size() > kLongestLine) pending_ = "a line without end\n";  // which is no report
    return got != 0;
  }

  Worker& worker_;
  double timeout_s_;
  std::string pending_;
};

// Times of one process.
bool is_sound(const Timing& time) {
  const std::vector<double>& samples = time.samples_ns;
  return !samples.empty() && time.process_rounds == std::vector{std::ssize(samples)} &&
         std::ranges::all_of(samples, [](double ns) { return std::isfinite(ns) && ns > 0; });
}

bool is_of(const ComparisonTask& task, const TaskEvent& event) {
  if (event.phase < Phase::prepare || event.phase > Phase::count) return false;
  if (event.variant_id.empty()) return !event.record;
  const auto asked = std::ranges::find(task.records, event.variant_id, &Record::variant_id);
  if (asked == task.records.end()) return false;
  if (!event.record) return true;
  const Record& record = *event.record;
  return record.case_id == asked->case_id && record.variant_id == asked->variant_id &&
         (record.status != Status::ok || (record.time && is_sound(*record.time)));
}

// Nothing if it is no report of this task: workers of other builds may say anything.
std::optional<TaskEvent> read_event(const ComparisonTask& task, const nlohmann::json& json) try {
  TaskEvent event = event_from_json(json);
  return is_of(task, event) ? std::optional(std::move(event)) : std::nullopt;
} catch (const std::exception&) {
  return std::nullopt;
}

TaskResult run_in_worker(const ComparisonTask& task, const std::filesystem::path& program, double timeout_s,
                         std::chrono::steady_clock::time_point end,
                         const std::function<void(const TaskEvent&)>& progress) {
  TaskResult result;
  using Outcome = Conversation::Outcome;
  Worker worker(task, program);
  Conversation conversation(worker, timeout_s);
  std::string line;
  std::optional<TaskEvent> last;
  const auto waiting = [&] {
    if (last) progress(*last);
  };
  for (;;) {
    Outcome outcome = conversation.next(line, waiting);
    const bool closed = outcome == Outcome::end;
    if (closed) outcome = conversation.wait_for_end();
    if (outcome == Outcome::timeout) {
      result.failure =
          fmt::format("no progress for {:g} s: the worker counts as hung and was stopped", timeout_s);
      return result;
    }
    if (closed) break;
    if (std::chrono::steady_clock::now() > end) {
      result.failure = "it still reported progress when the time for all was over, and was stopped";
      return result;
    }
    const nlohmann::json json =
        is_too_deep(line) ? nlohmann::json() : nlohmann::json::parse(line, nullptr, false);
    if (json.is_object() && json.contains("error") && json.at("error").is_string()) {
      result.failure = json.at("error").get<std::string>();
      continue;
    }
    std::optional<TaskEvent> event = read_event(task, json);
    if (!event) {
      result.failure = "the worker's report cannot be read, or is not of this task";
      return result;
    }
    result.in_flight = event->variant_id;
    result.phase = event->phase;
    progress(*event);
    fail_point(kFailPoints[static_cast<std::size_t>(event->phase)],
               {task.records.front().case_id, event->variant_id});
    last = event->without_record();
    if (event->record) result.settled.push_back(std::move(*event->record));
  }
  const std::string ending = worker.reap();
  if (result.failure.empty()) result.failure = ending;
  return result;
}

}  // namespace

TaskRunner in_worker(double timeout_s, const std::filesystem::path& program,
                     std::chrono::steady_clock::time_point last) {
  return [timeout_s, program, last](const ComparisonTask& task,
                                    const std::function<void(const TaskEvent&)>& progress) {
    return run_in_worker(task, program, timeout_s, last, progress);
  };
}

}  // namespace hilbench
