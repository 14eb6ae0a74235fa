#include "harness/commands.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

#include "harness/doctor.hpp"
#include "harness/forecast.hpp"
#include "harness/host.hpp"
#include "harness/launch.hpp"
#include "harness/launched_run.hpp"
#include "harness/list.hpp"
#include "harness/names.hpp"
#include "harness/plan.hpp"
#include "harness/profile.hpp"
#include "harness/progress.hpp"
#include "harness/runner.hpp"
#include "harness/store.hpp"
#include "harness/supervisor.hpp"
#include "reports/export.hpp"
#include "reports/exported.hpp"
#include "reports/report.hpp"
#include "reports/two_runs.hpp"

namespace hilbench {
namespace {

struct DeviceChoice {
  DeviceKind kind = DeviceKind::automatic;
  std::optional<int> ordinal;  // of a GPU, where one is named
};

DeviceChoice parse_device(const std::string& device) {
  if (device.empty()) return {};
  if (device == "cpu") return {.kind = DeviceKind::cpu};
  const bool numbered = device.starts_with("cuda:") && device.size() > 5 && device.size() < 9 &&
                        device.find_first_not_of("0123456789", 5) == std::string::npos;
  if (device == "cuda") return {.kind = DeviceKind::cuda};
  if (numbered) return {.kind = DeviceKind::cuda, .ordinal = std::stoi(device.substr(5))};
  throw UsageError(
      {.what = fmt::format("unknown device '{}'", device), .where = "--device", .remedy = "cpu or cuda[:i]"});
}

Sweep load(const RunArguments& arguments) {
  Sweep sweep =
      load_sweep(arguments.sweep,
                 {.axes = arguments.axes,
                  .device = parse_device(arguments.device).kind,
                  .external_use = arguments.allow_external ? ExternalUse::allowed : ExternalUse::refused},
                 known_names());
  if (arguments.budget_s) sweep.measure.budget_s = *arguments.budget_s;
  return sweep;
}

bool wants_gpu(const Sweep& sweep) {
  const std::vector<SweepCase> cases = cases_of(sweep);
  return std::any_of(cases.begin(), cases.end(),
                     [](const SweepCase& swept) { return swept.work.device != DeviceKind::cpu; });
}

// The host, and its GPU where some case may want one. A GPU that is named must be there.
Host host_for(const Sweep& sweep, const std::optional<int>& ordinal) {
  Host host = inspect_host();
  if (!wants_gpu(sweep)) return host;
  const GpuSurvey survey = survey_gpus();
  const auto index = static_cast<std::size_t>(ordinal.value_or(0));
  host.gpu_absence = survey.absence;
  if (ordinal && index >= survey.gpus.size())
    throw EnvironmentError(
        {.what = fmt::format("no device cuda:{}", index),
         .where = "--device",
         .why = survey.absence.empty() ? fmt::format("GPUs here: {}", survey.gpus.size()) : survey.absence,
         .remedy = "see `hilbench list devices`"});
  if (index < survey.gpus.size()) host.gpu = survey.gpus[index];
  const bool alike = std::all_of(survey.gpus.begin(), survey.gpus.end(),
                                 [&](const Gpu& gpu) { return gpu.name == survey.gpus.front().name; });
  host.gpus = alike ? static_cast<int>(survey.gpus.size()) : 1;
  return host;
}

// The same for one of several processes, the one of its host with that `local_rank`.
Host host_for_process(const Sweep& sweep, int local_rank) {
  Host host = inspect_host();
  if (!wants_gpu(sweep)) return host;
  const GpuSurvey survey = survey_gpus();
  host.gpu_absence = survey.absence;
  host.gpu = gpu_of_process(survey.gpus, local_rank);
  return host;
}

// The host as the plan is to see it: with the memory that is named.
Host planned_host(Host host, const std::optional<std::int64_t>& memory_bytes) {
  host.named_memory_bytes = memory_bytes;
  return host;
}

// A plan alone needs no GPU: where there is none, the memory that is named is taken for one's.
Host host_to_plan_for(const Sweep& sweep, const RunArguments& arguments) {
  Host host = planned_host(host_for(sweep, parse_device(arguments.device).ordinal), arguments.memory_bytes);
  const std::vector<SweepCase> cases = cases_of(sweep);
  const bool asked = std::any_of(cases.begin(), cases.end(), [](const SweepCase& swept) {
    return swept.work.device == DeviceKind::cuda;
  });
  if (host.gpu || !asked || !arguments.memory_bytes) return host;
  host.gpu = Gpu{.name = "a GPU that is not here",
                 .compute_capability = 90,
                 .multiprocessors = 132,
                 .clock_ghz = 1.98,
                 .memory_bytes = *arguments.memory_bytes};
  host.gpu_is_assumed = true;
  fmt::print(stderr, "hilbench: note: {}; cases on cuda are planned for compute capability {}\n",
             host.gpu_absence, host.gpu->capability_text());
  return host;
}

// The executor that walks all states side by side, where the library has it: its time is bounded by text
// times states for any expression.
constexpr std::regex::flag_type kRegexFlags = std::regex::ECMAScript
#ifdef __GLIBCXX__
                                              | std::regex_constants::__polynomial
#endif
    ;

std::regex parse_filter(const std::string& filter) {
  constexpr std::size_t kLongest = 1000;
  if (filter.size() > kLongest)
    throw UsageError({.what = "regular expression too long",
                      .where = "--filter",
                      .why = fmt::format("at most {} characters", kLongest)});
  try {
    return std::regex(filter, kRegexFlags);
  } catch (const std::regex_error& error) {
    throw UsageError({.what = fmt::format("bad regular expression '{}'", filter),
                      .where = "--filter",
                      .why = error.what()});
  }
}

// Leaves the variants that `pattern` finds, what is measured in their place, and the reference beside them
// for the ratios; none where it finds none.
void keep_matches(Comparison& comparison, const std::regex& pattern) {
  const std::vector<PlannedVariant> variants = std::exchange(comparison.variants, {});
  const std::optional<std::size_t> reference = std::exchange(comparison.reference, std::nullopt);
  std::set<std::string> kept;
  for (const PlannedVariant& variant : variants)
    if (std::regex_search(comparison.case_id + "/" + variant.id, pattern))
      kept.insert({variant.id, variant.measured_as});
  for (std::size_t i = 0; i < variants.size(); ++i) {
    if (!kept.contains(variants[i].id) && reference != i) continue;
    if (reference == i) comparison.reference = comparison.variants.size();
    comparison.variants.push_back(variants[i]);
  }
  if (kept.empty()) comparison.variants.clear();
}

Plan filtered(Plan plan, const std::string& filter) {
  if (filter.empty()) return plan;
  const std::regex pattern = parse_filter(filter);
  Plan result;
  for (Comparison& comparison : plan.comparisons) {
    keep_matches(comparison, pattern);
    if (!comparison.variants.empty()) result.comparisons.push_back(std::move(comparison));
  }
  if (result.comparisons.empty())
    throw UsageError(
        {.what = fmt::format("'{}' matches no variant", filter),
         .where = "--filter",
         .remedy = "`hilbench plan` lists cases and variants; the text searched is CASE/VARIANT"});
  return result;
}

// Skips every variant of the cases in which one execution of the reference takes longer than `limit_s`.
Plan limited(Plan plan, const std::optional<double>& limit_s) {
  if (!limit_s) return plan;
  for (Comparison& comparison : plan.comparisons) {
    if (!comparison.reference) continue;
    const std::optional<double> seconds = comparison.variants[*comparison.reference].seconds;
    if (!seconds || *seconds <= *limit_s) continue;
    for (PlannedVariant& variant : comparison.variants)
      if (!variant.skip)
        variant.skip = fmt::format(
            "one execution would take about {:.3g} s, more than --execution-limit {:g}", *seconds, *limit_s);
    comparison.reference.reset();
  }
  return plan;
}

void write_text(const std::filesystem::path& file, const std::string& text) {
  if (!file.empty()) return write_file(file, text);
  std::cout << text << std::flush;
  if (!std::cout) throw EnvironmentError({.what = "cannot write to standard output"});
}

// Whether `folder` could be made and written to, without making it.
void check_dump_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::path existing = std::filesystem::absolute(folder);
  while (!std::filesystem::exists(existing, error) && existing.has_relative_path())
    existing = existing.parent_path();
  if (::access((existing / "").c_str(), W_OK | X_OK) != 0)
    throw_file_error(errno, {.what = fmt::format("cannot write to '{}'", folder.string()),
                             .where = "--dump",
                             .why = fmt::format("{}: {}", existing.string(), std::strerror(errno))});
}

// A line for each of the commonest reasons why records are of that status.
std::string reasons_text(Status status, const std::map<std::string, std::int64_t>& counts) {
  constexpr std::size_t kMostShown = 10;
  std::vector<std::pair<std::int64_t, std::string>> reasons;
  for (const auto& [reason, count] : counts) reasons.emplace_back(count, reason);
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (std::size_t i = 0; i < std::min(reasons.size(), kMostShown); ++i)
    text += fmt::format("{} {}: {}\n", to_string(status), reasons[i].first, one_line(reasons[i].second));
  if (reasons.size() > kMostShown)
    text += fmt::format("and {} other reasons: the report lists them\n", reasons.size() - kMostShown);
  return text;
}

void print_summary(const RunSummary& summary, const std::filesystem::path& folder) {
  fmt::print("{} records ok, {} failed, {} invalid, {} skipped", summary.ok, summary.failed, summary.invalid,
             summary.skipped);
  if (summary.resumed > 0) fmt::print(" ({} comparisons were measured before)", summary.resumed);
  fmt::print("\n");
  for (const auto& [status, reasons] : summary.reasons) fmt::print("{}", reasons_text(status, reasons));
  if (summary.ok + summary.failed + summary.invalid == 0) fmt::print("nothing was measured\n");
  fmt::print("{}\nnext: hilbench report {}\n", (folder / "results.sqlite").string(), folder.string());
}

Plan plan_for(const RunArguments& arguments, const Sweep& sweep, const Host& host) {
  return limited(filtered(make_plan(sweep, planned_host(host, arguments.memory_bytes)), arguments.filter),
                 arguments.execution_limit_s);
}

ExitCode measure(const RunArguments& arguments, const AgreedWork& work, Processes* processes) {
  RunOptions options{.folder = arguments.folder, .dump = arguments.dump, .command = arguments.command};
  if (options.folder.empty()) options.folder = std::filesystem::path("results") / work.sweep.name;
  if (arguments.fresh) options.start = Start::fresh;
  if (!options.dump.empty()) check_dump_folder(options.dump);
  catch_stop_signals();
  Progress progress = Progress::for_stream(stderr);
  const RunSummary summary = run_plan(work.sweep, work.plan, work.host, options, progress, processes);
  print_summary(summary, options.folder);
  return summary.failed > 0 ? ExitCode::failed : ExitCode::done;
}

// Rank 0's part. What ends the run is told before the others leave: a launcher ends all when one does.
ExitCode lead(const RunArguments& arguments, const AgreedWork& work, Processes& processes) {
  ExitCode status = ExitCode::done;
  try {
    status = measure(arguments, work, &processes);
  } catch (const Interrupted&) {
    fmt::print(stderr, "hilbench: error: stopped; run the same command again to resume\n");
    processes.abandon(128 + stop_signal());
  } catch (const Error& error) {
    fmt::print(stderr, "hilbench: error: {}\n", error.what());
    status = error.code();
  }
  if (!processes.broken().empty()) processes.abandon(static_cast<int>(status));
  end_followers(processes, static_cast<int>(status));
  return status;
}

AgreedWork agree_on(const RunArguments& arguments, Processes& processes) {
  return agree(
      processes,
      {.load = [&] { return load(arguments); },
       .inspect =
           [&](const Sweep& sweep, int local_rank) {
             if (parse_device(arguments.device).ordinal)
               throw UsageError({.what = "a GPU is named",
                                 .where = "--device",
                                 .why = "under an MPI launcher every process takes one of its own",
                                 .remedy = "--device cuda"});
             return host_for_process(sweep, local_rank);
           },
       .plan = [&](const Sweep& sweep, const Host& host) { return plan_for(arguments, sweep, host); }});
}

// This process is one of several that an MPI launcher started. Rank 0 speaks for all.
ExitCode run_launched(const RunArguments& arguments, const Launch& launch) {
  constexpr std::chrono::seconds kToBeHeard{1};  // a launcher ends all processes when the first fails
  try {
    if (const std::string absence = mpi_absence(); !absence.empty())
      throw EnvironmentError(
          {.what = fmt::format("one of {} processes of a launcher", launch.processes), .why = absence});
    if (!arguments.profile.empty())
      throw UsageError({.what = "a profile is of one process", .where = "--profile"});
    Processes processes(launch);
    const AgreedWork work = agree_on(arguments, processes);
    return processes.leads() ? lead(arguments, work, processes)
                             : static_cast<ExitCode>(follow(processes, work));
  } catch (const Error& error) {
    if (launch.rank == 0) throw;
    std::this_thread::sleep_for(kToBeHeard);
    return error.code();
  }
}

}  // namespace

ExitCode run_command(const RunArguments& arguments) {
  const Launch launch = launch_of_this_process();
  if (launch.processes > 1 && !arguments.dry_run) return run_launched(arguments, launch);
  if (arguments.dry_run) return plan_command(arguments);
  const Sweep sweep = load(arguments);
  const Host host = host_for(sweep, parse_device(arguments.device).ordinal);
  const Plan plan = plan_for(arguments, sweep, host);
  if (!arguments.profile.empty()) {
    fmt::print("profiled {} {}\n", profile_variant(sweep, plan, host, arguments.profile), arguments.profile);
    return ExitCode::done;
  }
  return measure(arguments, {sweep, host, plan}, nullptr);
}

ExitCode plan_command(const RunArguments& arguments) {
  const Launch launch = launch_of_this_process();
  const Sweep sweep = load(arguments);
  Host host = host_to_plan_for(sweep, arguments);
  host.processes = launch.processes;
  if (launch.processes > 1 && host.gpu)
    host.gpus = launch.processes;  // if each has its own, which run() finds out
  const std::string table = arguments.longest
                                ? longest_table(sweep, host)
                                : plan_table(limited(filtered(make_plan(sweep, host), arguments.filter),
                                                     arguments.execution_limit_s));
  if (launch.rank == 0) fmt::print("{}", table);
  return ExitCode::done;
}

ExitCode report_command(const ReportArguments& arguments) {
  ReportInput input = read_results(arguments.folder);
  input.claims_file = arguments.claims;
  input.chart_library = arguments.charts;
  add_forecasts(input);
  const ReportOutput output =
      write_report(input, arguments.output.empty() ? arguments.folder : arguments.output);
  for (const std::string& note : output.notes) fmt::print(stderr, "hilbench: note: {}\n", note);
  fmt::print("{}\n", (output.folder / "report.html").string());
  return ExitCode::done;
}

ExitCode compare_command(const CompareArguments& arguments) {
  const ReportInput a = read_results(arguments.folder_a), b = read_results(arguments.folder_b);
  const TwoRuns runs = pair_runs(a, b);
  const GateAnswer answer =
      arguments.fail_above_percent ? gate(runs, *arguments.fail_above_percent) : GateAnswer{};
  const Document document = two_runs_document(runs, answer.reasons);
  if (!arguments.output.empty()) {
    make_folder(arguments.output);
    write_file(arguments.output / "compare.html", to_html(document));
    write_file(arguments.output / "compare.md", to_markdown(document));
    write_file(arguments.output / "compare.csv", to_csv(two_runs_table(runs)));
  }
  fmt::print("{}", arguments.format == "markdown" ? to_markdown(document) : to_text(document));
  return answer.code;
}

ExitCode export_command(const ExportArguments& arguments) {
  const std::vector<Record> records = read_results(arguments.folder).records;
  std::ostringstream text;
  export_records(arguments.format, records, text);
  write_text(arguments.output, text.str());
  return ExitCode::done;
}

ExitCode list_command(const std::string& topic) {
  fmt::print("{}", list_text(topic));
  return ExitCode::done;
}

ExitCode doctor_command() {
  fmt::print("{}", doctor_report());
  return ExitCode::done;
}

}  // namespace hilbench
