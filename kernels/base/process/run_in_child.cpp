#include "kernels/base/process/run_in_child.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <optional>

#include "kernels/base/text/error.hpp"

namespace hilbench {
namespace {

[[noreturn]] void report_and_leave(const std::function<ProbeFinding()>& look, int pipe_end) {
  ProbeFinding finding;
  try {
    finding = look();
  } catch (const std::exception& error) {
    finding.text = error.what();
  }
  const std::string text = (finding.works ? "+" : "-") + finding.text;
  const ssize_t written = write(pipe_end, text.data(), text.size());
  _exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
}

// Everything that the child writes until it closes its end; nothing if it has not closed it by the deadline.
std::optional<std::string> read_until_closed(int pipe_end, double timeout_s) {
  const auto now = [] { return std::chrono::steady_clock::now(); };
  const auto deadline = now() + std::chrono::duration<double>(timeout_s);
  std::string text;
  char buffer[4096];
  for (;;) {
    const double left_ms = std::chrono::duration<double, std::milli>(deadline - now()).count();
    pollfd wait{pipe_end, POLLIN, 0};
    const int ready = left_ms > 0 ? poll(&wait, 1, static_cast<int>(left_ms) + 1) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return std::nullopt;
    const ssize_t got = read(pipe_end, buffer, sizeof buffer);
    if (got <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
  }
}

ProbeFinding not_tried() {
  const int error = errno;
  return {.text = fmt::format("could not be tried: {}{}", std::strerror(error),
                              error == EAGAIN ? fmt::format("; {}", kMoreProcesses) : ""),
          .tried = false};
}

}  // namespace

ProbeFinding probe(const std::function<ProbeFinding()>& look, double timeout_s) {
  int ends[2];
  if (pipe(ends) != 0) return not_tried();
  const pid_t parent = getpid(), child = fork();
  if (child == 0) {
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) _exit(1);
    close(ends[0]);
    report_and_leave(look, ends[1]);
  }
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    return not_tried();
  }
  const std::optional<std::string> text = read_until_closed(ends[0], timeout_s);
  close(ends[0]);
  if (!text) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (!text) return {.text = fmt::format("did not answer within {} s", timeout_s)};
  if (text->empty())
    return {.text = WIFSIGNALED(status)
                        ? fmt::format("crashed when it was tried (signal {})", WTERMSIG(status))
                        : fmt::format("exited with status {} when it was tried", WEXITSTATUS(status))};
  return {.works = text->front() == '+', .text = text->substr(1)};
}

}  // namespace hilbench
