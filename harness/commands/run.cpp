#include "harness/commands/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <set>
#include <thread>

#include "harness/command_line/command_line.hpp"
#include "harness/commands/last_lines.hpp"
#include "harness/commands/plan.hpp"
#include "harness/commands/profile.hpp"
#include "harness/launched/agree.hpp"
#include "harness/launched/follow.hpp"
#include "harness/launched/launch.hpp"
#include "harness/launched/lead.hpp"
#include "harness/plan/plan_tables.hpp"
#include "harness/run/progress.hpp"
#include "harness/run/runner.hpp"
#include "harness/run/stop_signal.hpp"
#include "kernels/base/text/text.hpp"
#include "reports/findings/headline.hpp"
#include "reports/records/store.hpp"
#include "reports/records/store_folder.hpp"
#include "reports/terminal/results.hpp"
#include "reports/view/results.hpp"
#include "reports/view/view.hpp"

namespace hilbench {
namespace {

// Throws unless `folder` can be created and written to. Leaves no folder behind.
void check_dump_folder(const std::filesystem::path& folder) {
  const std::vector<std::filesystem::path> made = make_writable_folder(folder, "--dump");
  for (const std::filesystem::path& each : made) {
    std::error_code in_use;  // another process may have begun to write there
    std::filesystem::remove(each, in_use);
  }
}

// The reason without its numbers: which row of which case it was.
std::string without_numbers(const std::string& reason) {
  std::string text;
  for (const char c : reason)
    if (!(c >= '0' && c <= '9'))
      text += c;
    else if (!text.ends_with('#'))
      text += '#';
  return text;
}

// One line for each of the most frequent reasons for this status. Those that differ in numbers alone are one.
std::string reasons_text(Status status, const std::map<std::string, std::int64_t>& counts) {
  constexpr std::size_t kMostShown = 10;
  struct Alike {
    std::int64_t count = 0;
    std::string first;
    bool differ = false;
  };
  std::map<std::string, Alike> by_text;
  for (const auto& [reason, count] : counts) {
    Alike& alike = by_text[without_numbers(reason)];
    alike.differ = alike.count > 0;
    if (!alike.differ) alike.first = reason;
    alike.count += count;
  }
  std::vector<Alike> reasons;
  for (const auto& [text, alike] : by_text) reasons.push_back(alike);
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const Alike& a, const Alike& b) { return a.count > b.count; });
  std::string text;
  for (std::size_t i = 0; i < std::min(reasons.size(), kMostShown); ++i)
    text += fmt::format("{} {}{}: {}\n", to_string(status), reasons[i].count,
                        reasons[i].differ ? ", for example" : "", one_line(reasons[i].first));
  if (reasons.size() > kMostShown)
    text += fmt::format("and {} other reasons, which the report lists\n", reasons.size() - kMostShown);
  return text;
}

bool measured_any(const RunSummary& summary) {
  return summary.ok + summary.failed + summary.invalid > 0;
}

// The rows of the plan in `input`, which is what the folder now holds, with verdicts over all of it. Skipped
// rows are left to the reasons in the summary.
void print_rows(const Plan& plan, const ReportInput& input, const std::filesystem::path& folder) {
  constexpr std::ptrdiff_t kMostRows = 200;
  std::set<std::string> planned;
  for (const Comparison& comparison : plan.comparisons)
    for (const PlannedVariant& variant : comparison.variants)
      planned.insert(comparison.case_id + "/" + variant.variant_id);
  const auto shown = [&](const Record& record) {
    return record.status != Status::skipped && !record.twin &&
           planned.contains(record.case_id + "/" + record.variant_id);
  };
  const auto rows = std::count_if(input.records.begin(), input.records.end(), shown);
  if (rows > kMostRows)
    fmt::print("{} rows: hilbench show {}\n", rows, shell_quoted(folder.string()));
  else if (rows > 0)
    fmt::print("\n{}\n", results_text(input, RowOrder::by_case, screen_of(stdout), shown));
}

void print_summary(const RunSummary& summary, const std::filesystem::path& folder) {
  fmt::print("{} records ok, {} failed, {} invalid, {} skipped", summary.ok, summary.failed, summary.invalid,
             summary.skipped);
  if (summary.resumed > 0) fmt::print(" ({} comparisons were measured before)", summary.resumed);
  fmt::print("\n");
  for (const auto& [status, reasons] : summary.reasons) fmt::print("{}", reasons_text(status, reasons));
  if (!measured_any(summary)) fmt::print("nothing was measured\n");
  fmt::print("{}\n", (folder / "results.sqlite").string());
}

ExitCode measure(const RunArguments& arguments, const AgreedRun& run, const TaskRunner& runner,
                 const std::function<void(const Comparison&)>& committed) {
  RunOptions options{.folder = arguments.folder, .dump = arguments.dump, .command = arguments.command};
  if (options.folder.empty()) options.folder = std::filesystem::path("results") / run.sweep.name;
  if (arguments.mix_builds) options.start = Start::mix_builds;
  if (arguments.fresh) options.start = Start::fresh;
  if (run.site.processes > 1) options.processes = Processes::one;
  if (arguments.append_process) options.processes = Processes::one_more;
  if (arguments.retry_failed) options.retry = Retry::always;
  if (!options.dump.empty()) check_dump_folder(options.dump);
  catch_stop_signals();
  for (const std::string& line : tuning_lines(run.plan)) fmt::print(stderr, "{}\n", line);
  Progress progress = Progress::for_stream(stderr);
  const RunSummary summary = run_plan(run.sweep, run.plan, run.site, options, progress, runner, committed);
  const ReportInput input = read_results(options.folder);
  print_rows(run.plan, input, options.folder);
  print_summary(summary, options.folder);
  // Under a launcher the command as typed is only its end.
  const bool priced = run.site.processes == 1 && summary.ok > 0;
  const Done done{.processes = summary.processes, .undecided = headline_of(view_of(input)).undecided};
  const auto next = priced ? next_run(arguments.command, run.sweep, run.plan, done, progress) : std::nullopt;
  fmt::print("{}", last_lines(input, options.folder, next, screen_of(stdout)));
  const bool nothing = arguments.require_measured && !measured_any(summary);
  return summary.failed > 0 || nothing ? ExitCode::failed : ExitCode::done;
}

// Rank 0's part. Prints what ended the run before the other ranks exit: when one does, a launcher ends all.
ExitCode lead(const RunArguments& arguments, const AgreedRun& run, LaunchedProcesses& processes) {
  ExitCode status = ExitCode::done;
  try {
    status = measure(arguments, run, in_processes(processes),
                     [&](const Comparison& comparison) { expect_unbroken(processes, comparison); });
  } catch (const Interrupted&) {
    fmt::print(stderr, "hilbench: stopped; run the same command again to resume\n");
    processes.abandon(128 + stop_signal());
  } catch (const Error& error) {
    fmt::print(stderr, "hilbench: error: {}\n", error.what());
    status = error.code();
  }
  if (!processes.broken().empty()) processes.abandon(static_cast<int>(status));
  try {
    end_followers(processes, static_cast<int>(status));
  } catch (const Error& error) {
    fmt::print(stderr, "hilbench: error: {}\n", error.what());
    processes.abandon(static_cast<int>(error.code()));
  }
  return status;
}

AgreedRun agree_on(const RunArguments& arguments, LaunchedProcesses& processes) {
  return agree(
      processes,
      {.load = [&] { return sweep_of(arguments.sweep); },
       .inspect =
           [&](const Sweep& sweep, int local_rank) {
             if (gpu_ordinal(arguments.sweep))
               throw UsageError({.what = "a GPU is named",
                                 .where = "--device",
                                 .why = "under an MPI launcher every process uses a GPU of its own",
                                 .remedy = "--device cuda"});
             return find_site(sweep,
                              {.memory_bytes = arguments.sweep.memory_bytes, .local_rank = local_rank});
           },
       .plan = [&](const Sweep& sweep, const Site& site) { return plan_of(arguments.sweep, sweep, site); }});
}

// Runs this process as one of several that an MPI launcher started. Only rank 0 prints.
ExitCode run_launched(const RunArguments& arguments, const Launch& launch) {
  // Time for rank 0 to print: a launcher ends all processes when one fails.
  constexpr std::chrono::seconds kToBeHeard{1};
  std::optional<LaunchedProcesses> processes;
  try {
    if (const std::string absence = mpi_absence(); !absence.empty())
      throw EnvironmentError(
          {.what = fmt::format("one of {} processes of a launcher", launch.processes), .why = absence});
    if (!arguments.profile.empty())
      throw UsageError({.what = "only a single process can be profiled", .where = "--profile"});
    processes.emplace(launch);
    const AgreedRun run = agree_on(arguments, *processes);
    return processes->leads() ? lead(arguments, run, *processes)
                              : static_cast<ExitCode>(follow(*processes, run));
  } catch (const Error& error) {
    if (launch.rank == 0) throw;
    std::this_thread::sleep_for(kToBeHeard);
    if (!processes)  // they never connected, so there may be no rank 0 that prints
      fmt::print(stderr, "hilbench: note: rank {} of {} of an MPI launcher ends: {}\n", launch.rank,
                 launch.processes, error.what());
    return error.code();
  }
}

}  // namespace

ExitCode run_command(const RunArguments& arguments) {
  const Launch launch = launch_of_this_process();
  if (launch.processes > 1 && !arguments.dry_run) return run_launched(arguments, launch);
  if (arguments.dry_run) return plan_command(arguments.sweep, PlanTable::variants);
  const Sweep sweep = sweep_of(arguments.sweep);
  const Site site =
      find_site(sweep, {.gpu = gpu_ordinal(arguments.sweep), .memory_bytes = arguments.sweep.memory_bytes});
  const Plan plan = plan_of(arguments.sweep, sweep, site);
  if (!arguments.profile.empty()) {
    fmt::print("profiled {} {}\n", profile_variant(sweep, plan, site, arguments.profile), arguments.profile);
    return ExitCode::done;
  }
  return measure(arguments, {sweep, site, plan}, nullptr, nullptr);
}

void add_run(Commands& commands) {
  auto arguments = std::make_shared<RunArguments>();
  arguments->command = commands.as_typed();
  Options options = commands.add("run",
                                 "measure a sweep and store the records; resumes an earlier run. Under "
                                 "mpirun -n P, the P processes are ranks of rings, on GPUs with one GPU each",
                                 [arguments] { return run_command(*arguments); });
  add_sweep_options(options, arguments->sweep);
  options.path("-o", arguments->folder, "folder for the results; default: results/<sweep name>");
  options.flag("--fresh", arguments->fresh,
               "delete the records in the folder and start over, instead of resuming");
  options.flag("--mix-builds", arguments->mix_builds,
               "resume even if another build, processor or HILBENCH_BF16 measured what is there");
  options.flag(
      "--append-process", arguments->append_process,
      "measure every case once more in a fresh process with other inputs, beside what is there. Under "
      "mpirun each run measures one process: this adds the next");
  options.flag("--retry-failed", arguments->retry_failed,
               "measure cases with a failed variant again, from the start; without it, once only");
  options.exclude("--retry-failed", {"--append-process"});
  options.flag("--dry-run", arguments->dry_run, "print the plan and measure nothing");
  options.flag("--require-measured", arguments->require_measured,
               "exit with 1 if everything was skipped; without it, that is no failure");
  options.text("--profile", arguments->profile,
               "run only this variant, once, in this process, for a profiler; nothing is stored");
  options.path("--dump", arguments->dump, "folder for q, k, v, o and lse of every variant, as .npy files");
  options.examples({{"hilbench run quick", "a sweep of the program, by name"},
                    {"hilbench run mine.yaml -o results/try", "your own sweep"},
                    {"hilbench run quick --budget 3 --filter 'hilbert|peak'", "shorter, and a part of it"},
                    {"hilbench run quick --axis sequence_length=8k,16k --axis patterns=2048/1,4096/4",
                     "other lengths and patterns"},
                    {"hilbench run --claim hybrid-core --processes 10", "the sweep of a claim, to publish"}});
}

}  // namespace hilbench
