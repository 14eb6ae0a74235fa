#include "kernels/base/process/answering_program.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
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

std::string last_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  const std::size_t newline = text.rfind('\n');
  return one_line(newline == std::string::npos ? text : text.substr(newline + 1));
}

}  // namespace

AnsweringProgram::AnsweringProgram(std::string name, const std::vector<std::string>& command,
                                   const std::filesystem::path& folder,
                                   std::map<std::string, std::string> variables, std::vector<int> inherited)
    : name_(std::move(name)) {
  ::signal(SIGPIPE, SIG_IGN);  // a write to a program that has ended then returns an error
  variables[Offspring::kVariable] = offspring_.mark();
  try {
    child_.emplace(ChildCommand{.words = command,
                                .folder = folder,
                                .variables = std::move(variables),
                                .streams = {to_.read_end(), from_.write_end(), errors_.write_end()},
                                .inherited = std::move(inherited)});
  } catch (const CannotStart& failure) {
    throw EnvironmentError({.what = fmt::format("cannot start '{}' for '{}'", command.front(), name_),
                            .where = folder.string(),
                            .why = std::strerror(failure.error)});
  }
  to_.close_read();
  from_.close_write();
  errors_.close_write();
}

AnsweringProgram::~AnsweringProgram() {
  end();
  try {
    if (child_->wait(kPatience_ms)) return;
    child_->kill();
    child_->wait(-1);
    // What a fork server runs for it ends a little later. When nothing of it is left, standard error ends.
    from_.close_read();
    for (int look = 0; look < kPatience_ms / kLook_ms && errors_.read_end() >= 0; ++look) listen(kLook_ms);
  } catch (const Error& error) {
    std::fputs(fmt::format("hilbench: warning: {}\n", error.what()).c_str(), stderr);
  }
}

void AnsweringProgram::send(std::string_view line) {
  try {
    write_all(to_.write_end(), std::string(line) + "\n");
  } catch (const EnvironmentError&) {  // one that has ended may have answered before: hear() reads that first
    if (!child_->wait(kPatience_ms)) tell_end();
  }
}

std::string AnsweringProgram::hear(const Waiting& waiting) {
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
    const bool gone =
        child_->wait(0).has_value();  // checked before reading, so that everything written until then is read
    const Heard heard = gone && chunks_left-- == 0 ? Heard::end : listen(gone ? 0 : kLook_ms);
    if (heard == Heard::end || (gone && heard == Heard::nothing)) tell_end();
  }
}

std::string AnsweringProgram::ask(std::string_view line, const Waiting& waiting) {
  send(line);
  return hear(waiting);
}

// Reads what the program wrote on either stream. `end`: its standard output is closed.
AnsweringProgram::Heard AnsweringProgram::listen(int timeout_ms) {
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

void AnsweringProgram::tell_end() {
  throw EnvironmentError(
      {.what = fmt::format("'{}' {}", name_, how_it_ended()), .why = last_line(complaints_)});
}

std::string AnsweringProgram::how_it_ended() {
  const bool left = child_->wait(kPatience_ms).has_value();
  if (!left) child_->kill();
  const int status = *child_->wait(-1);
  from_.close_read();
  for (int chunk = 0; chunk < kMostLeftChunks && errors_.read_end() >= 0; ++chunk)
    if (listen(0) != Heard::something) break;
  if (!left) return "closed its output";
  if (WIFSIGNALED(status))
    return fmt::format("was killed by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  return fmt::format("exited with status {}", WEXITSTATUS(status));
}

}  // namespace hilbench
