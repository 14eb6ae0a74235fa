#include "reports/figures/draw.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>

#include "kernels/base/files/files.hpp"
#include "kernels/base/process/held_signals.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/base/text/text.hpp"
#include "reports/figures/figure_script.hpp"

extern char** environ;

namespace hilbench {
namespace {

namespace fs = std::filesystem;

// Empty if there is no such file.
std::string text_of(const fs::path& file) {
  std::error_code ignored;
  return fs::is_regular_file(file, ignored)
             ? read_text(file, "output of a program that draws", kMostInputBytes)
             : "";
}

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
      return {
          .hung = true,
          .fault = fmt::format("still running after {:g} s", std::chrono::duration<double>(limit).count())};
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) return {.found = false, .fault = "cannot be started"};
  std::string said = text_of(log);
  while (!said.empty() && std::isspace(static_cast<unsigned char>(said.back()))) said.pop_back();
  return {.fault = one_line(said, 200)};
}

// `command`: program and arguments.
Outcome run(std::vector<std::string> command, const fs::path& log, std::chrono::milliseconds limit,
            const HeldSignals& signals) {
  posix_spawn_file_actions_t actions;
  if (const int error = posix_spawn_file_actions_init(&actions); error != 0)
    return {.fault = std::strerror(error)};
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigmask(&attributes, &signals.before());
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments[0], &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return {.found = error != ENOENT && error != EACCES, .fault = std::strerror(error)};
  return wait_for(child, log, limit, signals);
}

// What one call of draw() draws, and with what.
class Drawing {
 public:
  Drawing(const DrawTools& tools, const fs::path& folder) : tools_(tools), folder_(folder) {}

  Drawn draw(const nlohmann::json& data, const ChartLibrary& library, const std::string& only) {
    try {
      write_file(work_.path() / "draw.js", library.script + still_script());
      write_file(work_.path() / "data.json",
                 data.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    } catch (const Error& error) {
      drawn_.notes.push_back(fmt::format("figures left out: {}", error.what()));
      return std::move(drawn_);
    }
    std::vector<std::string> command = {tools_.node, path_of("draw.js"), path_of("data.json"), work_.path()};
    if (!only.empty()) command.push_back(only);
    const Outcome outcome = run(std::move(command), work_.path() / "log", tools_.limit, signals_);
    if (!outcome.found)
      drawn_.notes.push_back(fmt::format(
          "no {}: figures left out; install it (Debian, Ubuntu: nodejs) and report again", tools_.node));
    else if (!outcome.fault.empty())
      drawn_.notes.push_back(fmt::format("figures left out: {}: {}", tools_.node, outcome.fault));
    else
      keep();
    return std::move(drawn_);
  }

 private:
  std::string path_of(const std::string& file) const { return work_.path() / file; }

  // Takes what Node.js wrote.
  void keep() {
    const nlohmann::json listed =
        nlohmann::json::parse(text_of(work_.path() / "figures.json"), nullptr, false);
    if (!listed.is_array()) {
      drawn_.notes.push_back(fmt::format("figures left out: {}: it wrote none", tools_.node));
      return;
    }
    for (const nlohmann::json& one : listed) {
      const auto name = one.value("name", "");
      if (one.contains("fault")) {
        drawn_.notes.push_back(
            fmt::format("figure {} left out: {}", name, one_line(one.value("fault", ""), 200)));
        continue;
      }
      write_file(folder_ / (name + ".svg"), text_of(work_.path() / (name + ".svg")));
      drawn_.figures.push_back({name, one.value("title", ""), one.value("caption", "")});
      if (pixels_) write_pixels(name);
    }
  }

  // The PNG has 1.4 times the pixels.
  void write_pixels(const std::string& name) {
    const Outcome outcome =
        run({tools_.rsvg_convert, "--zoom", "1.4", "-o", path_of(name + ".png"), path_of(name + ".svg")},
            work_.path() / "log", tools_.limit, signals_);
    if (outcome.fault.empty()) {
      write_file(folder_ / (name + ".png"), text_of(work_.path() / (name + ".png")));
      return;
    }
    pixels_ = outcome.found && !outcome.hung;
    drawn_.notes.push_back(
        outcome.found
            ? fmt::format("{}.png left out: {}: {}", name, tools_.rsvg_convert, outcome.fault)
            : fmt::format("no {}: figures have no .png; install it (Debian, Ubuntu: librsvg2-bin) and "
                          "report again",
                          tools_.rsvg_convert));
  }

  const DrawTools& tools_;
  const fs::path& folder_;
  HeldSignals signals_;  // outlives the folder
  TemporaryFolder work_;
  Drawn drawn_;
  bool pixels_ = true;
};

}  // namespace

Drawn draw(const nlohmann::json& data, const ChartLibrary& library, const fs::path& folder,
           const std::string& only, const DrawTools& tools) {
  if (library.script.empty()) return {};
  return Drawing(tools, folder).draw(data, library, only);
}

}  // namespace hilbench
