#include "harness/run/worker_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "harness/process/pipe.hpp"
#include "harness/run/stop_signal.hpp"
#include "kernels/base/error.hpp"

namespace hilbench {
namespace {

// A worker process. The destructor kills it and waits for its end.
class Worker {
 public:
  explicit Worker(const ComparisonTask& task) {
    const std::string text = to_json(task).dump();
    Pipe task_pipe, event_pipe;
    event_fd_ = ::fcntl(event_pipe.read_end(), F_DUPFD_CLOEXEC, 0);
    if (event_fd_ < 0) throw EnvironmentError({.what = "cannot watch a worker", .why = std::strerror(errno)});
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ < 0) {
      const int error = errno;
      ::close(event_fd_);
      throw EnvironmentError({.what = "cannot start a worker", .why = std::strerror(error)});
    }
    if (pid_ == 0) become_worker(task_pipe.read_end(), event_pipe.write_end(), parent);
    task_pipe.close_read();
    try {
      write_all(task_pipe.write_end(), text);
    } catch (const EnvironmentError&) {
      // The worker has already ended; its exit status says more than the broken pipe.
    }
  }

  ~Worker() {
    kill();
    if (event_fd_ >= 0) ::close(event_fd_);
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  int event_fd() const { return event_fd_; }

  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    wait();
  }

  // Waits for the end of the worker. Returns why it ended, as a reason; empty for exit status 0.
  std::string wait() {
    siginfo_t ended = {};
    while (::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOWAIT) < 0)
      if (errno != EINTR) throw EnvironmentError({.what = "lost a worker", .why = std::strerror(errno)});
    // Kills its process group, which still has its number: processes that its programs started
    // and left behind.
    ::kill(-pid_, SIGKILL);
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0)
      if (errno != EINTR) throw EnvironmentError({.what = "lost a worker", .why = std::strerror(errno)});
    pid_ = -1;
    if (WIFSIGNALED(status)) return signal_reason(WTERMSIG(status));
    if (WEXITSTATUS(status) != 0) return fmt::format("the worker exited with status {}", WEXITSTATUS(status));
    return "";
  }

 private:
  [[noreturn]] static void become_worker(int task_fd, int event_fd, pid_t parent) {
    // A process group of its own: Ctrl-C reaches only the supervisor, which then ends the worker.
    const bool ready = ::setpgid(0, 0) == 0 && ::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 &&
                       ::getppid() == parent && ::fcntl(task_fd, F_SETFD, 0) == 0 &&
                       ::fcntl(event_fd, F_SETFD, 0) == 0;
    if (!ready) ::_exit(126);
    const std::string task_text = std::to_string(task_fd), event_text = std::to_string(event_fd);
    ::execl("/proc/self/exe", "hilbench", "worker", task_text.c_str(), event_text.c_str(), nullptr);
    ::_exit(127);
  }

  static std::string signal_reason(int signal) {
    std::string reason = fmt::format("the worker was killed by signal {} ({})", signal, ::strsignal(signal));
    if (signal == SIGKILL) reason += ", perhaps because memory ran out";
    return reason;
  }

  pid_t pid_ = -1;
  int event_fd_ = -1;
};

// Reads a worker's lines as they arrive.
class EventReader {
 public:
  EventReader(int fd, double timeout_s) : fd_(fd), timeout_s_(timeout_s) {}

  enum class Outcome { line, end, timeout };

  Outcome next(std::string& line) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(timeout_s_);
    for (;;) {
      const std::size_t newline = pending_.find('\n');
      if (newline != std::string::npos) {
        line = pending_.substr(0, newline);
        pending_.erase(0, newline + 1);
        return Outcome::line;
      }
      if (stop_signal() != 0) throw Interrupted{};
      const double left = std::chrono::duration<double>(deadline - std::chrono::steady_clock::now()).count();
      if (left <= 0) return Outcome::timeout;
      if (!wait_readable(std::min(left, kSlice_s))) continue;
      if (!fill()) return Outcome::end;
    }
  }

 private:
  static constexpr double kSlice_s = 0.5;  // a stop signal that poll missed is seen after this time

  bool wait_readable(double seconds) {
    pollfd watched{fd_, POLLIN, 0};
    const int ready = ::poll(&watched, 1, static_cast<int>(seconds * 1000) + 1);
    if (ready < 0 && errno != EINTR)
      throw EnvironmentError({.what = "cannot watch a worker", .why = std::strerror(errno)});
    return ready > 0;
  }

  bool fill() {
    char chunk[65536];
    const ssize_t got = ::read(fd_, chunk, sizeof chunk);
    if (got < 0 && errno != EINTR)
      throw EnvironmentError({.what = "cannot read from a worker", .why = std::strerror(errno)});
    if (got > 0) pending_.append(chunk, static_cast<std::size_t>(got));
    return got != 0;
  }

  int fd_;
  double timeout_s_;
  std::string pending_;
};

TaskResult run_in_worker(const ComparisonTask& task, double timeout_s,
                         const std::function<void(const TaskEvent&)>& progress) {
  TaskResult result;
  Worker worker(task);
  EventReader reader(worker.event_fd(), timeout_s);
  std::string line;
  for (;;) {
    const EventReader::Outcome outcome = reader.next(line);
    if (outcome == EventReader::Outcome::timeout) {
      result.failure =
          fmt::format("no progress for {:g} s: the worker counts as hung and was stopped", timeout_s);
      return result;
    }
    if (outcome == EventReader::Outcome::end) break;
    const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object()) {
      result.failure = "the worker's report cannot be read";
      return result;
    }
    if (json.contains("error")) {
      result.failure = json.at("error").get<std::string>();
      continue;
    }
    TaskEvent event = event_from_json(json);
    result.in_flight = event.variant_id;
    result.phase = event.phase;
    progress(event);
    if (event.record) result.settled.push_back(std::move(*event.record));
  }
  const std::string ending = worker.wait();
  if (result.failure.empty()) result.failure = ending;
  return result;
}

}  // namespace

TaskRunner in_worker(double timeout_s) {
  return [timeout_s](const ComparisonTask& task, const std::function<void(const TaskEvent&)>& progress) {
    return run_in_worker(task, timeout_s, progress);
  };
}

}  // namespace hilbench
