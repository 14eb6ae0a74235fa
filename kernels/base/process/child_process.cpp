#include "kernels/base/process/child_process.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "kernels/base/text/error.hpp"
#include "kernels/base/text/text.hpp"

namespace hilbench {
namespace {

constexpr std::size_t kLongestAnswer = std::size_t{16} << 20;
constexpr std::size_t kKeptComplaints = 4096;
constexpr int kPatience_ms = 1000;   // how long a program may take to exit after its input is closed
constexpr int kLook_ms = 100;        // how often a silent program is checked for having ended
constexpr int kMostLeftChunks = 16;  // read at most after the program has ended; a full pipe is one chunk

[[noreturn]] void become(char* const* arguments, char* const* environment, const char* folder,
                         const std::array<int, 3>& streams, int trouble_fd, pid_t parent) {
  bool ready = ::prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && ::getppid() == parent && ::chdir(folder) == 0 &&
               ::signal(SIGPIPE, SIG_DFL) != SIG_ERR;
  for (int fd = 0; fd < 3; ++fd) ready = ready && ::dup2(streams[static_cast<std::size_t>(fd)], fd) == fd;
  if (ready) ::execvpe(arguments[0], arguments, environment);
  const int trouble = errno;
  // If even this write fails, nothing more can be done: the exit status remains.
  [[maybe_unused]] const ssize_t told = ::write(trouble_fd, &trouble, sizeof trouble);
  ::_exit(127);
}

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

std::string last_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  const std::size_t newline = text.rfind('\n');
  return one_line(newline == std::string::npos ? text : text.substr(newline + 1));
}

}  // namespace

ChildProcess::ChildProcess(std::string name, const std::vector<std::string>& command,
                           const std::filesystem::path& folder,
                           const std::map<std::string, std::string>& variables)
    : name_(std::move(name)) {
  ::signal(SIGPIPE, SIG_IGN);  // a write to a program that has ended then returns an error
  Pipe trouble;
  std::map<std::string, std::string> own = variables;
  own[Offspring::kVariable] = offspring_.mark();
  const std::vector<std::string> lines = environment_with(own);
  const std::vector<char*> arguments = pointers(command), environment = pointers(lines);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) throw_errno("cannot start a process");
  if (pid_ == 0)
    become(arguments.data(), environment.data(), folder.empty() ? "." : folder.c_str(),
           {to_.read_end(), from_.write_end(), errors_.write_end()}, trouble.write_end(), parent);
  to_.close_read();
  from_.close_write();
  errors_.close_write();
  trouble.close_write();
  const std::string reason = read_all(trouble.read_end());
  if (reason.size() != sizeof(int)) return;
  int code = 0;
  std::memcpy(&code, reason.data(), sizeof code);
  reap(-1);
  throw EnvironmentError({.what = fmt::format("cannot start '{}' for '{}'", command.front(), name_),
                          .where = folder.string(),
                          .why = std::strerror(code)});
}

ChildProcess::~ChildProcess() {
  end();
  if (reap(kPatience_ms)) return;
  ::kill(pid_, SIGKILL);
  reap(-1);
  // What a fork server runs for it ends a little later. When nothing of it is left, standard error ends.
  from_.close_read();
  for (int look = 0; look < kPatience_ms / kLook_ms && errors_.read_end() >= 0; ++look) listen(kLook_ms);
}

void ChildProcess::send(std::string_view line) {
  try {
    write_all(to_.write_end(), std::string(line) + "\n");
  } catch (const EnvironmentError&) {
    tell_end();
  }
}

std::string ChildProcess::hear(const Waiting& waiting) {
  const auto start = std::chrono::steady_clock::now();
  for (int chunks_left = kMostLeftChunks;;) {
    const std::size_t newline = heard_.find('\n');
    if (newline != std::string::npos) {
      if (newline + 1 != heard_.size())
        throw EnvironmentError({.what = fmt::format("'{}' answered with more than one line", name_),
                                .why = one_line(heard_.substr(newline + 1), 80)});
      heard_.pop_back();
      return std::exchange(heard_, "");
    }
    if (waiting) waiting(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    if (heard_.size() > kLongestAnswer)
      throw EnvironmentError({.what = fmt::format("'{}' gave an answer of more than 16 MiB", name_)});
    const bool gone = reap(0);  // checked before reading, so that everything written until then is read
    const Heard heard = gone && chunks_left-- == 0 ? Heard::end : listen(gone ? 0 : kLook_ms);
    if (heard == Heard::end || (gone && heard == Heard::nothing)) tell_end();
  }
}

std::string ChildProcess::ask(std::string_view line, const Waiting& waiting) {
  send(line);
  return hear(waiting);
}

// Reads what the program wrote on either stream. `end`: its standard output is closed.
ChildProcess::Heard ChildProcess::listen(int timeout_ms) {
  std::array<pollfd, 2> watched = {{{from_.read_end(), POLLIN, 0}, {errors_.read_end(), POLLIN, 0}}};
  const int ready = ::poll(watched.data(), watched.size(), timeout_ms);
  if (ready < 0 && errno != EINTR) throw_errno(fmt::format("cannot read from '{}'", name_));
  if (ready <= 0) return Heard::nothing;
  std::array<char, 65536> chunk;
  if (watched[1].revents != 0) {
    const ssize_t got = ::read(errors_.read_end(), chunk.data(), chunk.size());
    if (got > 0) complaints_.append(chunk.data(), static_cast<std::size_t>(got));
    if (got == 0) errors_.close_read();  // poll ignores a closed pipe
    if (complaints_.size() > kKeptComplaints) complaints_.erase(0, complaints_.size() - kKeptComplaints);
  }
  if (watched[0].revents != 0) {
    const ssize_t got = ::read(from_.read_end(), chunk.data(), chunk.size());
    if (got > 0) heard_.append(chunk.data(), static_cast<std::size_t>(got));
    if (got == 0 || (got < 0 && errno != EINTR)) return Heard::end;
  }
  return Heard::something;
}

void ChildProcess::tell_end() {
  throw EnvironmentError(
      {.what = fmt::format("'{}' {}", name_, how_it_ended()), .why = last_line(complaints_)});
}

std::string ChildProcess::how_it_ended() {
  const bool left = reap(kPatience_ms);
  if (!left) {
    ::kill(pid_, SIGKILL);
    reap(-1);
  }
  from_.close_read();
  for (int chunk = 0; chunk < kMostLeftChunks && errors_.read_end() >= 0; ++chunk)
    if (listen(0) != Heard::something) break;
  if (!left) return "closed its output";
  if (WIFSIGNALED(status_))
    return fmt::format("was killed by signal {} ({})", WTERMSIG(status_), ::strsignal(WTERMSIG(status_)));
  return fmt::format("exited with status {}", WEXITSTATUS(status_));
}

// Whether the program has ended. Waits up to timeout_ms for that; without limit if timeout_ms is negative.
bool ChildProcess::reap(int timeout_ms) {
  if (pid_ < 0) return true;
  const auto start = std::chrono::steady_clock::now();
  for (;;) {
    const pid_t ended = ::waitpid(pid_, &status_, timeout_ms < 0 ? 0 : WNOHANG);
    if (ended == pid_ || (ended < 0 && errno != EINTR)) {
      pid_ = -1;
      return true;
    }
    if (timeout_ms >= 0 && std::chrono::steady_clock::now() - start > std::chrono::milliseconds(timeout_ms))
      return false;
    if (ended == 0) ::usleep(1000);
  }
}

}  // namespace hilbench
