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
#include "harness/launched/agree.hpp"
#include "harness/launched/follow.hpp"
#include "harness/launched/launch.hpp"
#include "harness/launched/lead.hpp"
#include "harness/plan/filter.hpp"
#include "harness/plan/plan.hpp"
#include "harness/plan/site.hpp"
#include "harness/run/progress.hpp"
#include "harness/run/runner.hpp"
#include "harness/run/supervisor.hpp"
#include "harness/sweep/names.hpp"
#include "kernels/base/text.hpp"
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
                  .external_use = arguments.allow_external ? ExternalUse::allowed : ExternalUse::refused},
                 known_names());
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

Plan plan_for(const RunArguments& arguments, const Sweep& sweep, const Host& host) {
  return limited(filtered(make_plan(sweep, planned_host(host, arguments.memory_bytes)), arguments.filter),
                 arguments.execution_limit_s);
}

ExitCode measure(const RunArguments& arguments, const AgreedRun& run, const TaskRunner& runner,
                 const std::function<void(const Comparison&)>& committed) {
  RunOptions options{.folder = arguments.folder, .dump = arguments.dump, .command = arguments.command};
  if (options.folder.empty()) options.folder = std::filesystem::path("results") / run.sweep.name;
  if (arguments.fresh) options.start = Start::fresh;
  if (!options.dump.empty()) check_dump_folder(options.dump);
  catch_stop_signals();
  Progress progress = Progress::for_stream(stderr);
  const RunSummary summary = run_plan(run.sweep, run.plan, run.host, options, progress, runner, committed);
  print_summary(summary, options.folder);
  return summary.failed > 0 ? ExitCode::failed : ExitCode::done;
}

// Rank 0's part. What ends the run is told before the others leave: a launcher ends all when one does.
ExitCode lead(const RunArguments& arguments, const AgreedRun& run, LaunchedProcesses& processes) {
  ExitCode status = ExitCode::done;
  try {
    status = measure(arguments, run, in_processes(processes),
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

AgreedRun agree_on(const RunArguments& arguments, LaunchedProcesses& processes) {
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
  std::optional<LaunchedProcesses> processes;
  try {
    if (const std::string absence = mpi_absence(); !absence.empty())
      throw EnvironmentError(
          {.what = fmt::format("one of {} processes of a launcher", launch.processes), .why = absence});
    if (!arguments.profile.empty())
      throw UsageError({.what = "a profile is of one process", .where = "--profile"});
    processes.emplace(launch);
    const AgreedRun run = agree_on(arguments, *processes);
    return processes->leads() ? lead(arguments, run, *processes)
                              : static_cast<ExitCode>(follow(*processes, run));
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
  const Host host = host_for(sweep, parse_device(arguments.device).ordinal);
  const Plan plan = plan_for(arguments, sweep, host);
  if (!arguments.profile.empty()) {
    fmt::print("profiled {} {}\n", profile_variant(sweep, plan, host, arguments.profile), arguments.profile);
    return ExitCode::done;
  }
  return measure(arguments, {sweep, host, plan}, nullptr, nullptr);
}

ExitCode plan_command(const RunArguments& arguments) {
  const Launch launch = launch_of_this_process();
  const Sweep sweep = load(arguments);
  Host host = host_to_plan_for(sweep, parse_device(arguments.device).ordinal, arguments.memory_bytes);
  if (host.gpu_is_assumed)
    fmt::print(stderr, "hilbench: note: {}; cases on cuda are planned for compute capability {}\n",
               host.gpu_absence, host.gpu->capability_text());
  host.processes = launch.processes;
  if (launch.processes > 1 && host.gpu)
    host.gpus = launch.processes;  // if each has its own, which run() finds out
  const std::string table = arguments.longest
                                ? longest_table(sweep, host)
                                : plan_table(limited(filtered(make_plan(sweep, host), arguments.filter),
                                                     arguments.execution_limit_s));
  if (launch.rank == 0)
    fmt::print("{}", table);
  else
    fmt::print(stderr, "hilbench: note: rank {} of {} of an MPI launcher: rank 0 prints the plan\n",
               launch.rank, launch.processes);
  return ExitCode::done;
}

}  // namespace hilbench
