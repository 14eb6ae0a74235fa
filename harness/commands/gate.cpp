// `hilbench gate`: does a candidate take longer than a baseline?
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <set>

#include "harness/command_line/command_line.hpp"
#include "harness/command_line/sweep_arguments.hpp"
#include "harness/gate/gate_builds.hpp"
#include "harness/gate/kernel_versions.hpp"
#include "harness/gate/one_build.hpp"
#include "harness/run/progress.hpp"
#include "harness/run/stop_signal.hpp"
#include "kernels/base/files/files.hpp"
#include "kernels/base/text/share.hpp"
#include "kernels/base/text/text.hpp"
#include "kernels/case/variant_filter.hpp"
#include "reports/gate/gate_runs.hpp"
#include "reports/records/store_folder.hpp"
#include "reports/report.hpp"
#include "reports/view/results.hpp"

namespace hilbench {
namespace {

struct GateArguments {
  SweepArguments sweep;
  std::vector<std::string> baselines;
  std::vector<std::string> candidates;  // several only of NAME=VERSION
  std::filesystem::path candidate;      // the only one
  std::string threshold;
  std::optional<double> budget_s;
  std::vector<std::string> injections;
  std::filesystem::path output;
  std::string format = "text";
  bool self_test = false;
  bool allow_unlike = false;
};

// What is measured, and how.
struct GateTask {
  Sweep sweep;
  Site site;
  Plan plan;
  GateOptions options;
  GateProgress progress;
};

Injection parse_injection(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0)
    throw UsageError({.what = fmt::format("'{}' is no injection", text),
                      .where = "--inject",
                      .remedy = "write REGEX=SHARE, such as 'n1024=0.10'"});
  return {VariantFilter(text.substr(0, equals), "--inject"),
          parse_share(text.substr(equals + 1), "--inject")};
}

[[noreturn]] void refuse_injection(const char* why) {
  throw UsageError({.what = "no work can be added here", .where = "--inject", .why = why});
}

void write_results(const std::filesystem::path& folder, const GateResult& result) {
  write_file(folder / "gate.md", gate_markdown(result));
  write_file(folder / "gate.csv", gate_csv(result));
  write_file(folder / "gate.xml", gate_junit(result));
}

// `processes` that hold their tensors at once. `status` shows the progress, and must outlive the task.
GateTask task_of(const GateArguments& arguments, std::int64_t processes, StatusLine& status) {
  GateTask task{.sweep = sweep_of(arguments.sweep)};
  task.site = find_site(task.sweep,
                        {.gpu = gpu_ordinal(arguments.sweep), .memory_bytes = arguments.sweep.memory_bytes});
  task.site.host.available_memory_bytes /= processes;
  if (task.site.gpu) task.site.gpu->memory_bytes /= processes;
  task.plan = plan_of(arguments.sweep, task.sweep, task.site);
  task.options.folder = arguments.output;
  task.options.automatic = arguments.threshold == "auto";
  if (!arguments.threshold.empty() && !task.options.automatic) {
    task.options.threshold = parse_share(arguments.threshold, "--threshold");
    expect_threshold(task.options.threshold, "--threshold");
  }
  if (arguments.budget_s) task.options.budget_s = *arguments.budget_s;
  for (const std::string& text : arguments.injections)
    task.options.injections.push_back(parse_injection(text));
  if (!arguments.output.empty()) make_writable_folder(arguments.output);
  task.progress = [&status](const std::string& line) { status.show(line); };
  return task;
}

void refuse_automatic(const GateTask& task, const char* why) {
  if (!task.options.automatic) return;
  throw UsageError({.what = "no threshold can be found here",
                    .where = "--threshold auto",
                    .why = why,
                    .remedy = "give a share, such as 5%"});
}

// Pairs of each case that a self-test measures within its budget.
constexpr std::size_t kSelfTestPairs = 30;
constexpr std::size_t kSelfTestGates = 2000;

ExitCode test_itself(const GateArguments& arguments) {
  if (!arguments.baselines.empty())
    throw UsageError({.what = "a self-test measures the candidate alone",
                      .where = "--self-test --baseline",
                      .remedy = "leave one of them out"});
  if (!arguments.injections.empty()) refuse_injection("a self-test is of equal builds");
  StatusLine status(stderr);
  GateTask task = task_of(arguments, 2, status);
  const Build build = name_kernel_versions(arguments.candidates)
                          ? build_with_kernels(arguments.candidates, "--candidate", task.sweep)
                          : inspect_build(arguments.candidate);
  refuse_automatic(task, "a self-test itself says which one the machine supports");
  if (!arguments.budget_s) task.options.budget_s = 600;
  const EqualMeasurement measured = measure_equal_pairs(task.sweep, task.plan, task.site, build,
                                                        kSelfTestPairs, task.options, task.progress);
  status.clear();
  for (const std::string& line : measured.failures) fmt::print("failed: {}\n", one_line(line));
  if (measured.pairs.empty()) return ExitCode::failed;
  const SelfTest test = self_test(measured.pairs, task.options.threshold, task.options.processes,
                                  kSelfTestGates, task.sweep.measure.seed);
  const std::string text = self_test_text(test);
  if (!arguments.output.empty()) write_file(arguments.output / "self-test.txt", text);
  fmt::print("{}", text);
  for (const std::string& line : measured.disturbances) fmt::print("disturbed: {}\n", line);
  if (!measured.failures.empty()) return ExitCode::failed;
  return measured.disturbances.empty() && test.supported && *test.supported <= task.options.threshold
             ? ExitCode::done
             : ExitCode::inconclusive;
}

ReportInput stored_results(const std::filesystem::path& folder, const Sweep& sweep) {
  ReportInput input = read_results(folder);
  const auto name = input.meta.find("sweep");
  if (name != input.meta.end() && name->second != sweep.name)
    throw UsageError({.what = fmt::format("these are results of the sweep '{}'", one_line(name->second, 80)),
                      .where = folder.string(),
                      .why = fmt::format("the gate is about '{}'", sweep.name)});
  return input;
}

// The cases of the sweep, to judge only these. All if the results have none of them: what the sweep leaves to
// the machine, such as its device, was then another one.
std::set<std::string> asked_cases(const Plan& plan, const ReportInput& results) {
  std::set<std::string> asked;
  for (const Comparison& comparison : plan.comparisons) asked.insert(comparison.case_id);
  const bool some = std::any_of(results.records.begin(), results.records.end(),
                                [&](const Record& record) { return asked.contains(record.case_id); });
  return some ? asked : std::set<std::string>();
}

// The baseline is stored; the candidate is a program or stored too.
GateResult gate_stored(const GateArguments& arguments, const GateTask& task) {
  refuse_automatic(task, "stored results are looked at once");
  std::vector<ReportInput> baselines;
  for (const std::string& folder : arguments.baselines) {
    if (!std::filesystem::is_directory(folder))
      throw UsageError(
          {.what = "programs and folders do not mix", .where = fmt::format("--baseline {}", folder)});
    baselines.push_back(stored_results(folder, task.sweep));
  }
  ReportInput candidate;
  MeasuredCandidate measured;
  if (std::filesystem::is_directory(arguments.candidate)) {
    if (!arguments.injections.empty()) refuse_injection("both sides are stored results");
    candidate = stored_results(arguments.candidate, task.sweep);
  } else {
    const Build build = inspect_build(arguments.candidate);
    measured = measure_candidate(task.sweep, task.plan, task.site, build, task.options, task.progress);
    candidate.records = std::move(measured.records);
    candidate.source = arguments.candidate;
    candidate.meta["sweep"] = task.sweep.name;
  }
  StoredGateOptions options{.threshold = task.options.threshold,
                            .unlike = arguments.allow_unlike ? Unlike::allowed : Unlike::refused};
  if (!arguments.sweep.filter.empty()) options.filter = VariantFilter(arguments.sweep.filter);
  options.cases = asked_cases(task.plan, candidate);
  GateResult result = gate_runs(baselines, candidate, compare_runs(baselines.front(), candidate), options);
  result.seconds = measured.seconds;
  if (measured.seconds > 0 && !task.options.injections.empty())
    result.notes.push_back("extra work was injected into the candidate");
  if (measured.cut_short)
    result.notes.push_back("the budget was spent before all processes of the candidate had measured");
  if (result.rows.empty())
    throw UsageError({.what = "no case is in both", .where = arguments.baselines.front()});
  return result;
}

GatedBuilds gate_kernels(const GateArguments& arguments, const GateTask& task) {
  if (!arguments.injections.empty()) refuse_injection("kernels of your own time themselves");
  const Build baseline = build_with_kernels(arguments.baselines, "--baseline", task.sweep);
  const Build candidate = build_with_kernels(arguments.candidates, "--candidate", task.sweep);
  expect_same_kernels(baseline, candidate);
  return gate_builds(task.sweep, task.plan, task.site, baseline, candidate, task.options, task.progress);
}

GatedBuilds gate_programs(const GateArguments& arguments, const GateTask& task) {
  if (arguments.baselines.size() > 1)
    throw UsageError(
        {.what = "several baselines", .where = "--baseline", .why = "only folders may be several"});
  if (std::filesystem::is_directory(arguments.candidate))
    throw UsageError({.what = "the candidate is a folder and the baseline a program",
                      .where = arguments.candidate.string(),
                      .remedy = "give two programs, two folders, or a folder as --baseline"});
  const Build baseline = inspect_build(arguments.baselines.front());
  const Build candidate = inspect_build(arguments.candidate);
  return gate_builds(task.sweep, task.plan, task.site, baseline, candidate, task.options, task.progress);
}

ExitCode gate_command(GateArguments& arguments) {
  catch_stop_signals();
  const bool kernels =
      name_kernel_versions(arguments.candidates) || name_kernel_versions(arguments.baselines);
  if (arguments.candidates.size() > 1 && !kernels)
    throw UsageError(
        {.what = "several candidates", .where = "--candidate", .why = "only kernels may be several"});
  arguments.candidate = arguments.candidates.front();
  if (arguments.self_test) return test_itself(arguments);
  if (arguments.baselines.empty())
    throw UsageError({.what = "--baseline is required", .remedy = "see hilbench gate --help"});
  const bool stored = !kernels && std::filesystem::is_directory(arguments.baselines.front());
  StatusLine status(stderr);
  const GateTask task = task_of(arguments, stored ? 1 : 2, status);
  const GatedBuilds gated = kernels  ? gate_kernels(arguments, task)
                            : stored ? GatedBuilds{gate_stored(arguments, task), nullptr}
                                     : gate_programs(arguments, task);
  const GateResult& result = gated.result;
  status.clear();
  if (arguments.format == "github") fmt::print("{}", gate_annotations(result));
  fmt::print("{}", arguments.format == "markdown" ? gate_markdown(result) : gate_text(result));
  if (!arguments.output.empty()) write_results(arguments.output, result);
  if (gated.unsaved) std::rethrow_exception(gated.unsaved);
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
  options.texts(
      "--baseline", arguments->baselines,
      "program of the build to compare with, or a folder of its results; or NAME=VERSION: a library, "
      "folder or command of a kernel of the sweep; folders and kernels may be repeated");
  options.texts("--candidate", arguments->candidates,
                "program of the build to judge, or a folder of its results; or NAME=VERSION");
  options.require("--candidate");
  options.text(
      "--threshold", arguments->threshold,
      "slowdowns up to this share are accepted; default: 0.025; auto: the smallest that could be seen in "
      "every variant on this machine, now");
  options.duration("--budget", arguments->budget_s,
                   "time for the whole gate: 90s, 3m; default: 3m, of --self-test 10m");
  options.texts(
      "--inject", arguments->injections,
      "REGEX=SHARE: add this share of work to the candidate's variants whose CASE/VARIANT matches, to "
      "see that the gate notices");
  options.flag(
      "--self-test", arguments->self_test,
      "measure the candidate against itself: false alarms, what is found, and the smallest threshold that "
      "this machine supports");
  options.flag("--allow-unlike", arguments->allow_unlike,
               "judge stored results although machines or options differ");
  options.path(
      "-o", arguments->output,
      "folder for gate.md, gate.csv, gate.xml (JUnit) and the records of both builds; of --self-test "
      "for self-test.txt and self-test.csv");
  options.choice("--format", arguments->format, {"text", "markdown", "github"},
                 "print text (default), markdown, or text after annotations for GitHub");
  options.examples(
      {{"hilbench gate ci --baseline old/hilbench --candidate new/hilbench", "two builds, side by side"},
       {"hilbench gate ci --candidate build/hilbench --self-test", "what this machine can tell apart"},
       {"hilbench gate mine.yaml --baseline mine=old/libmine.so --candidate mine=new/libmine.so "
        "--allow-external",
        "two versions of a kernel of your own"},
       {"hilbench gate ci --baseline results/before --candidate results/after", "two stored runs"}});
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
