#include "reports/pictures/drawing_program.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>

#include "kernels/base/files/files.hpp"
#include "kernels/base/process/child_process.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/base/text/text.hpp"

namespace hilbench {
namespace {

namespace fs = std::filesystem;

Drew wait_for(ChildProcess& child, const fs::path& log, std::chrono::milliseconds limit,
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
  std::string said = drawn_text(log);
  while (!said.empty() && std::isspace(static_cast<unsigned char>(said.back()))) said.pop_back();
  return {.fault = one_line(said, 200)};
}

}  // namespace

std::string drawn_text(const fs::path& file) {
  std::error_code ignored;
  return fs::is_regular_file(file, ignored)
             ? read_text(file, "output of a program that draws", kMostInputBytes)
             : "";
}

Drew run_drawing(const std::vector<std::string>& command, const fs::path& log,
                 std::chrono::milliseconds limit, const HeldSignals& signals) try {
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

std::vector<std::string> png_command(const std::string& rsvg_convert, const fs::path& svg,
                                     const fs::path& png) {
  return {rsvg_convert, "--zoom", "1.4", "-o", png, svg};
}

std::string png_of(const std::string& svg, const std::string& rsvg_convert) {
  constexpr std::chrono::seconds kLimit(60);
  const HeldSignals signals;  // outlives the folder
  const TemporaryFolder work;
  const fs::path from = work.path() / "picture.svg", to = work.path() / "picture.png";
  write_file(from, svg);
  const Drew drew = run_drawing(png_command(rsvg_convert, from, to), work.path() / "log", kLimit, signals);
  if (!drew.found)
    throw EnvironmentError({.what = "no PNG can be made",
                            .where = rsvg_convert,
                            .why = "there is no such program in PATH",
                            .remedy = "install it (Debian, Ubuntu: librsvg2-bin), or write SVG"});
  if (!drew.fault.empty())
    throw EnvironmentError({.what = "no PNG can be made", .where = rsvg_convert, .why = drew.fault});
  return drawn_text(to);
}

}  // namespace hilbench
