#include "kernels/base/process/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "kernels/base/process/pipe.hpp"

namespace hilbench {
namespace {

// This process's environment, with `variables` replacing variables of the same name.
std::vector<std::string> environment_with(const std::map<std::string, std::string>& variables) {
  std::vector<std::string> lines;
  for (const auto& [name, value] : variables) lines.push_back(name + "=" + value);
  for (char** line = environ; *line != nullptr; ++line) {
    const std::string_view text = *line;
    if (!variables.contains(std::string(text.substr(0, text.find('='))))) lines.emplace_back(text);
  }
  return lines;
}

// The form that exec takes: ends with a null pointer, valid as long as `lines`.
std::vector<char*> pointers(const std::vector<std::string>& lines) {
  std::vector<char*> all;
  for (const std::string& line : lines) all.push_back(const_cast<char*>(line.c_str()));
  all.push_back(nullptr);
  return all;
}

bool take_streams(const std::array<int, 3>& streams) {
  for (int fd = 0; fd < 3; ++fd) {
    int from = streams[static_cast<std::size_t>(fd)];
    if (from == fd) continue;  // also if it is closed here
    if (from < 0) from = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    if (from < 0 || ::dup2(from, fd) != fd) return false;
  }
  return true;
}

// After fork(): only what is safe in a child of a process with threads. Returns if it fails.
void become(const ChildCommand& command, char* const* arguments, char* const* environment, pid_t parent) {
  if (command.own_group && ::setpgid(0, 0) != 0) return;
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != parent) return;
  if (!command.folder.empty() && ::chdir(command.folder.c_str()) != 0) return;
  if (::signal(SIGPIPE, SIG_DFL) == SIG_ERR || !take_streams(command.streams)) return;
  for (const int fd : command.inherited)
    if (::fcntl(fd, F_SETFD, 0) != 0) return;
  if (command.held_signals != nullptr && ::sigprocmask(SIG_SETMASK, command.held_signals, nullptr) != 0)
    return;
  ::execvpe(command.words.front().c_str(), arguments, environment);
}

}  // namespace

ChildProcess::ChildProcess(const ChildCommand& command) : own_group_(command.own_group) {
  std::vector<std::string> words = command.words;
  if (!command.name.empty()) words.front() = command.name;
  const std::vector<std::string> lines = environment_with(command.variables);
  const std::vector<char*> arguments = pointers(words), environment = pointers(lines);
  Pipe trouble;  // holds the errno value if the program cannot be started, and closes if it is
  const pid_t parent = ::getpid();
  id_ = ::fork();
  if (id_ < 0) {
    const int error = errno;
    throw CannotStart({.what = "cannot start a process",
                       .why = std::strerror(error),
                       .remedy = error == EAGAIN ? kMoreProcesses : ""},
                      error);
  }
  if (id_ == 0) {
    become(command, arguments.data(), environment.data(), parent);
    const int error = errno;
    // If even this write fails, nothing more can be done: the exit status remains.
    [[maybe_unused]] const ssize_t told = ::write(trouble.write_end(), &error, sizeof error);
    ::_exit(127);
  }
  trouble.close_write();
  const std::string told = read_all(trouble.read_end());
  if (told.size() != sizeof(int)) return;
  int error = 0;
  std::memcpy(&error, told.data(), sizeof error);
  wait(-1);
  throw CannotStart({.what = fmt::format("cannot start '{}'", command.words.front()),
                     .where = command.folder.string(),
                     .why = std::strerror(error)},
                    error);
}

ChildProcess::~ChildProcess() {
  if (status_) return;
  kill();
  try {
    wait(-1);
  } catch (const Error& error) {
    std::fputs(fmt::format("hilbench: warning: {}\n", error.what()).c_str(), stderr);
  }
}

std::optional<int> ChildProcess::wait(int timeout_ms) {
  if (status_ || !ends(timeout_ms)) return status_;
  if (own_group_) ::kill(-id_, SIGKILL);  // until it is waited for, its group has its number
  int status = 0;
  while (::waitpid(id_, &status, 0) < 0)
    if (errno != EINTR) throw_errno("lost a process that was started");
  return status_ = status;
}

void ChildProcess::kill() {
  if (!status_) ::kill(id_, SIGKILL);
}

// Whether it has ended, within this time. It stays to be waited for.
bool ChildProcess::ends(int timeout_ms) const {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point deadline = Clock::now() + std::chrono::milliseconds(timeout_ms);
  for (;;) {
    siginfo_t ended = {};
    const int options = WEXITED | WNOWAIT | (timeout_ms < 0 ? 0 : WNOHANG);
    if (::waitid(P_PID, static_cast<id_t>(id_), &ended, options) < 0) {
      if (errno != EINTR) throw_errno("lost a process that was started");
      continue;
    }
    if (ended.si_pid != 0) return true;
    if (Clock::now() >= deadline) return false;
    ::usleep(1000);
  }
}

}  // namespace hilbench
