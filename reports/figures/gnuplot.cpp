#include "reports/figures/gnuplot.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "kernels/base/error.hpp"
#include "kernels/base/files.hpp"
#include "kernels/base/text.hpp"

extern char** environ;

namespace hilbench {
namespace {

namespace fs = std::filesystem;

// Empty if there is no such file.
std::string text_of(const fs::path& file) {
  std::error_code ignored;
  return fs::is_regular_file(file, ignored) ? read_text(file, "file of gnuplot", kMostInputBytes) : "";
}

// Holds back the signals that ask this process to stop, so that nothing is left behind: neither a folder nor
// a gnuplot. They end the process when this is destroyed.
class HeldSignals {
 public:
  HeldSignals() {
    sigemptyset(&held_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
      struct sigaction action = {};
      // One that is ignored (nohup) would be pending all the same.
      if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) sigaddset(&held_, signal);
    }
    pthread_sigmask(SIG_BLOCK, &held_, &before_);
  }
  ~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  bool pending() const {
    sigset_t all;
    if (sigpending(&all) != 0) return false;
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
      if (sigismember(&all, signal) == 1 && sigismember(&held_, signal) == 1) return true;
    return false;
  }
  const sigset_t& before() const { return before_; }

 private:
  sigset_t held_, before_;
};

struct Outcome {
  bool found = true;
  bool hung = false;
  std::string fault;  // empty if it succeeded
};

// Waits for `child`, and kills it after `limit` or if this process is to stop.
Outcome wait_for(pid_t child, const fs::path& log, std::chrono::milliseconds limit,
                 const HeldSignals& signals) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  int status = 0;
  for (;;) {
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) break;
    if (ended < 0 && errno != EINTR) return {.fault = std::strerror(errno)};
    const bool stopped = signals.pending();
    if (stopped || std::chrono::steady_clock::now() > deadline) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      if (stopped) return {.fault = "stopped"};
      return {.hung = true,
              .fault = fmt::format("still running after {:g} s; no further figures are drawn",
                                   std::chrono::duration<double>(limit).count())};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) return {.found = false, .fault = "cannot be started"};
  return {.fault = one_line(text_of(log), 200)};
}

Outcome run(const std::string& program, const fs::path& script, const fs::path& log,
            std::chrono::milliseconds limit, const HeldSignals& signals) {
  posix_spawn_file_actions_t actions;
  if (const int error = posix_spawn_file_actions_init(&actions); error != 0)
    return {.fault = std::strerror(error)};
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  std::string name = program, no_startup_files = "-d", file = script.string();
  std::array<char*, 4> arguments = {name.data(), no_startup_files.data(), file.data(), nullptr};
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigmask(&attributes, &signals.before());
  pid_t child = 0;
  const int error = posix_spawnp(&child, program.c_str(), &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return {.found = error != ENOENT && error != EACCES, .fault = std::strerror(error)};
  return wait_for(child, log, limit, signals);
}

std::string whole_script(const Plot& plot, const fs::path& folder) {
  // The PNG has 1.4 times the pixels. A point there is 4/3 of a pixel, so fonts are scaled by 1.4 *
  // 3/4 = 1.05.
  const std::string svg =
      fmt::format("svg dynamic size {},{} font 'DejaVu Sans,13' noenhanced background rgb 'white'",
                  plot.width, plot.height);
  const std::string png = fmt::format(
      "pngcairo size {:.0f},{:.0f} font 'DejaVu Sans,13' fontscale 1.05 linewidth 1.4 pointscale 1.4 "
      "noenhanced background rgb 'white'",
      plot.width * 1.4, plot.height * 1.4);
  return fmt::format(
      "cd {0}\nset encoding utf8\nset datafile separator tab\n"
      "set terminal {1}\nset output 'figure.svg'\n{2}\nunset output\n"
      "reset\nset encoding utf8\nset datafile separator tab\n"
      "set terminal {3}\nset output 'figure.png'\n{2}\nunset output\n",
      gnuplot_quoted(folder.string()), svg, plot.script, png);
}

// gnuplot puts its own name into <title>; screen readers need the title of the figure.
void name_svg(std::string& svg, const std::string& title) {
  std::string safe;
  for (const char c : title)
    safe += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  const std::size_t begin = svg.find("<title>"), end = svg.find("</title>");
  if (begin != std::string::npos && end != std::string::npos && end > begin)
    svg.replace(begin + 7, end - begin - 7, safe);
}

Outcome draw_one(const Plot& plot, const fs::path& folder, const std::string& program,
                 std::chrono::milliseconds limit, std::string& svg) {
  const HeldSignals signals;  // outlives the folder
  const TemporaryFolder work;
  try {
    write_file(work.path() / "figure.gp", whole_script(plot, work.path()));
    for (const auto& [name, text] : plot.data) write_file(work.path() / name, text);
  } catch (const Error& error) {
    return {.fault = error.what()};
  }
  const Outcome outcome = run(program, work.path() / "figure.gp", work.path() / "log", limit, signals);
  if (!outcome.fault.empty()) return outcome;
  svg = text_of(work.path() / "figure.svg");
  const std::string png = text_of(work.path() / "figure.png");
  if (svg.empty() || png.empty()) return {.fault = "it wrote no picture"};
  name_svg(svg, plot.title);
  write_file(folder / (plot.name + ".svg"), svg);
  write_file(folder / (plot.name + ".png"), png);
  return {};
}

}  // namespace

std::string gnuplot_quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'')
      quoted += "''";
    else
      quoted += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return quoted + '\'';
}

std::string gnuplot_field(std::string_view text) {
  std::string field;
  for (const char c : text) field += static_cast<unsigned char>(c) < 0x20 ? ' ' : c == '"' ? '\'' : c;
  return field;
}

Drawn draw(const std::vector<Plot>& plots, const fs::path& folder, const std::string& program,
           std::chrono::milliseconds limit) {
  Drawn drawn;
  for (const Plot& plot : plots) {
    std::string svg;
    const Outcome outcome = draw_one(plot, folder, program, limit, svg);
    if (!outcome.found) {
      drawn.notes.push_back(
          fmt::format("no {}: figures left out; install it (Debian: gnuplot-nox) and report again", program));
      return drawn;
    }
    if (outcome.fault.empty())
      drawn.figures.push_back({plot.name, plot.title, plot.caption, std::move(svg)});
    else
      drawn.notes.push_back(fmt::format("figure {} left out: {}: {}", plot.name, program, outcome.fault));
    if (outcome.hung) break;
  }
  return drawn;
}

}  // namespace hilbench
