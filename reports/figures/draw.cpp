#include "reports/figures/draw.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>

#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>

#include "kernels/base/files/files.hpp"
#include "kernels/base/process/child_process.hpp"
#include "kernels/base/process/held_signals.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/base/text/text.hpp"
#include "reports/figures/figure_script.hpp"

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

// Waits for `child`, at most `limit`, and not if this process is to stop.
Outcome wait_for(ChildProcess& child, const fs::path& log, std::chrono::milliseconds limit,
                 const HeldSignals& signals) {
  constexpr int kLook_ms = 20;  // how often a signal is looked for
  const auto deadline = std::chrono::steady_clock::now() + limit;
  std::optional<int> status;
  while (!(status = child.wait(kLook_ms))) {
    if (signals.pending()) return {.fault = "stopped"};
    if (std::chrono::steady_clock::now() > deadline)
      return {
          .hung = true,
          .fault = fmt::format("still running after {:g} s", std::chrono::duration<double>(limit).count())};
  }
  if (WIFEXITED(*status) && WEXITSTATUS(*status) == 0) return {};
  std::string said = text_of(log);
  while (!said.empty() && std::isspace(static_cast<unsigned char>(said.back()))) said.pop_back();
  return {.fault = one_line(said, 200)};
}

// `command`: program and arguments.
Outcome run(const std::vector<std::string>& command, const fs::path& log, std::chrono::milliseconds limit,
            const HeldSignals& signals) try {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(log.c_str(), "we"), std::fclose);
  if (!file) return {.fault = std::strerror(errno)};
  const int out = ::fileno(file.get());
  ChildProcess child({.words = command, .streams = {-1, out, out}, .held_signals = &signals.before()});
  return wait_for(child, log, limit, signals);
} catch (const CannotStart& failure) {
  return {.found = failure.error != ENOENT && failure.error != EACCES, .fault = std::strerror(failure.error)};
} catch (const EnvironmentError& error) {
  return {.fault = error.what()};
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
    const Outcome outcome = run(command, work_.path() / "log", tools_.limit, signals_);
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
