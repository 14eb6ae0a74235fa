// `hilbench run`, in one process or in those that an MPI launcher started, and `hilbench plan`.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

#include "harness/commands/commands.hpp"
#include "harness/commands/profile.hpp"
#include "harness/launched/launch.hpp"
#include "harness/launched/launched_run.hpp"
#include "harness/plan/filter.hpp"
#include "harness/plan/plan_tables.hpp"
#include "harness/plan/site.hpp"
#include "harness/run/progress.hpp"
#include "harness/run/runner.hpp"
#include "harness/run/stop_signal.hpp"
#include "reports/records/store.hpp"

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
                  .external_use = arguments.allow_external ? ExternalUse::allowed : ExternalUse::refused});
  if (arguments.budget_s) sweep.measure.budget_s = *arguments.budget_s;
  return sweep;
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

Plan plan_for(const RunArguments& arguments, const Sweep& sweep, const Site& site) {
  return limited(filtered(make_plan(sweep, site), arguments.filter), arguments.execution_limit_s);
}

ExitCode measure(const RunArguments& arguments, const AgreedWork& work, const TaskRunner& runner,
                 const std::function<void(const Comparison&)>& committed) {
  RunOptions options{.folder = arguments.folder, .dump = arguments.dump, .command = arguments.command};
  if (options.folder.empty()) options.folder = std::filesystem::path("results") / work.sweep.name;
  if (arguments.fresh) options.start = Start::fresh;
  if (!options.dump.empty()) check_dump_folder(options.dump);
  catch_stop_signals();
  Progress progress = Progress::for_stream(stderr);
  const RunSummary summary = run_plan(work.sweep, work.plan, work.site, options, progress, runner, committed);
  print_summary(summary, options.folder);
  return summary.failed > 0 ? ExitCode::failed : ExitCode::done;
}

// Rank 0's part. What ends the run is told before the others leave: a launcher ends all when one does.
ExitCode lead(const RunArguments& arguments, const AgreedWork& work, LaunchedProcesses& processes) {
  ExitCode status = ExitCode::done;
  try {
    status = measure(arguments, work, in_processes(processes),
                     [&](const Comparison& comparison) { expect_unbroken(processes, comparison); });
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

AgreedWork agree_on(const RunArguments& arguments, LaunchedProcesses& processes) {
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
             return find_site(sweep, {.memory_bytes = arguments.memory_bytes, .local_rank = local_rank});
           },
       .plan = [&](const Sweep& sweep, const Site& site) { return plan_for(arguments, sweep, site); }});
}

// This process is one of several that an MPI launcher started. Rank 0 speaks for all.
ExitCode run_launched(const RunArguments& arguments, const Launch& launch) {
  constexpr std::chrono::seconds kToBeHeard{1};  // a launcher ends all processes when the first fails
  std::optional<LaunchedProcesses> processes;
  try {
    if (const std::string absence = mpi_absence(); !absence.empty())
      throw EnvironmentError(
          {.what = fmt::format("one of {} processes of a launcher", launch.processes), .why = absence});
    if (!arguments.profile.empty())
      throw UsageError({.what = "a profile is of one process", .where = "--profile"});
    processes.emplace(launch);
    const AgreedWork work = agree_on(arguments, *processes);
    return processes->leads() ? lead(arguments, work, *processes)
                              : static_cast<ExitCode>(follow(*processes, work));
  } catch (const Error& error) {
    if (launch.rank == 0) throw;
    std::this_thread::sleep_for(kToBeHeard);
    if (!processes)  // nobody ended this process: there may be no rank 0
      fmt::print(stderr, "hilbench: note: rank {} of {} of an MPI launcher ends: {}\n", launch.rank,
                 launch.processes, error.what());
    return error.code();
  }
}

}  // namespace

ExitCode run_command(const RunArguments& arguments) {
  const Launch launch = launch_of_this_process();
  if (launch.processes > 1 && !arguments.dry_run) return run_launched(arguments, launch);
  if (arguments.dry_run) return plan_command(arguments);
  const Sweep sweep = load(arguments);
  const Site site = find_site(
      sweep, {.gpu = parse_device(arguments.device).ordinal, .memory_bytes = arguments.memory_bytes});
  const Plan plan = plan_for(arguments, sweep, site);
  if (!arguments.profile.empty()) {
    fmt::print("profiled {} {}\n", profile_variant(sweep, plan, site, arguments.profile), arguments.profile);
    return ExitCode::done;
  }
  return measure(arguments, {sweep, site, plan}, nullptr, nullptr);
}

ExitCode plan_command(const RunArguments& arguments) {
  const Launch launch = launch_of_this_process();
  const Sweep sweep = load(arguments);
  const Site site = find_site(sweep, {.use = SiteUse::plan_only,
                                      .gpu = parse_device(arguments.device).ordinal,
                                      .memory_bytes = arguments.memory_bytes,
                                      .processes = launch.processes});
  if (site.gpu_is_assumed)
    fmt::print(stderr, "hilbench: note: {}; cases on cuda are planned for compute capability {}\n",
               site.gpu_absence, site.gpu->capability_text());
  const std::string table =
      arguments.longest ? longest_table(sweep, site) : plan_table(plan_for(arguments, sweep, site));
  if (launch.rank == 0)
    fmt::print("{}", table);
  else
    fmt::print(stderr, "hilbench: note: rank {} of {} of an MPI launcher: rank 0 prints the plan\n",
               launch.rank, launch.processes);
  return ExitCode::done;
}

}  // namespace hilbench
