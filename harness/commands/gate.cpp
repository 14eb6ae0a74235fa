// `hilbench gate`: does a candidate take longer than a baseline?
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <memory>

#include "harness/commands/command_line.hpp"
#include "harness/commands/sweep_arguments.hpp"
#include "harness/gate/gate_builds.hpp"
#include "harness/plan/filter.hpp"
#include "harness/run/stop_signal.hpp"
#include "kernels/base/files.hpp"
#include "kernels/base/share.hpp"
#include "reports/records/store_folder.hpp"
#include "reports/report.hpp"

namespace hilbench {
namespace {

struct GateArguments {
  SweepArguments sweep;
  std::filesystem::path baseline, candidate;
  std::optional<double> threshold, budget_s;
  std::vector<std::string> injections;
  std::filesystem::path output;
  std::string format = "text";
};

Injection parse_injection(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0)
    throw UsageError({.what = fmt::format("'{}' is no injection", text),
                      .where = "--inject",
                      .remedy = "write REGEX=SHARE, such as 'n1024=0.10'"});
  return {parse_filter(text.substr(0, equals)), parse_share(text.substr(equals + 1), "--inject")};
}

void write_results(const std::filesystem::path& folder, const GateResult& result) {
  write_file(folder / "gate.md", gate_markdown(result));
  write_file(folder / "gate.csv", gate_csv(result));
  write_file(folder / "gate.xml", gate_junit(result));
}

ExitCode gate_command(const GateArguments& arguments) {
  GateOptions options{.folder = arguments.output};
  if (arguments.threshold) options.threshold = *arguments.threshold;
  if (arguments.budget_s) options.budget_s = *arguments.budget_s;
  for (const std::string& text : arguments.injections) options.injections.push_back(parse_injection(text));
  const Build baseline = inspect_build(arguments.baseline), candidate = inspect_build(arguments.candidate);
  if (!options.folder.empty()) make_writable_folder(options.folder);
  const Sweep sweep = sweep_of(arguments.sweep);
  const Site site =
      find_site(sweep, {.gpu = gpu_ordinal(arguments.sweep), .memory_bytes = arguments.sweep.memory_bytes});
  const Plan plan = plan_of(arguments.sweep, sweep, site);
  catch_stop_signals();
  const bool terminal = ::isatty(::fileno(stderr)) != 0;
  const GateResult result =
      gate_builds(sweep, plan, site, baseline, candidate, options, [&](const std::string& line) {
        fmt::print(stderr, "{}{}{}", terminal ? "\r\033[K" : "", line, terminal ? "" : "\n");
      });
  if (terminal) fmt::print(stderr, "\r\033[K");
  if (!options.folder.empty()) write_results(options.folder, result);
  if (arguments.format == "github") fmt::print("{}", gate_annotations(result));
  fmt::print("{}", arguments.format == "markdown" ? gate_markdown(result) : gate_text(result));
  return exit_code(result);
}

}  // namespace

void add_gate(Commands& commands) {
  auto arguments = std::make_shared<GateArguments>();
  Options options =
      commands.add("gate",
                   "does a candidate take longer than a baseline? 0: no, 1: yes, 3: it cannot be "
                   "said here",
                   [arguments] { return gate_command(*arguments); });
  add_sweep_options(options, arguments->sweep, Budget::of_command);
  options.path("--baseline", arguments->baseline, "program of the build to compare with");
  options.path("--candidate", arguments->candidate, "program of the build to judge");
  options.require("--baseline");
  options.require("--candidate");
  options.share("--threshold", arguments->threshold,
                "slowdowns up to this share are accepted; default: 0.025");
  options.duration("--budget", arguments->budget_s, "time for the whole gate: 90s, 3m; default: 3m");
  options.texts(
      "--inject", arguments->injections,
      "REGEX=SHARE: add this share of work to the candidate's variants whose CASE/VARIANT matches, to "
      "see that the gate notices");
  options.path("-o", arguments->output,
               "folder for gate.md, gate.csv, gate.xml (JUnit) and the records of both builds");
  options.choice("--format", arguments->format, {"text", "markdown", "github"},
                 "print text (default), markdown, or text after annotations for GitHub");
}

// Another build's gate asks this.
void add_describe_build(Commands& commands) {
  commands.add("describe-build", "", [] {
    std::string line;
    std::getline(std::cin, line);
    fmt::print("{}\n", describe_this_build());
    return ExitCode::done;
  });
}

}  // namespace hilbench
