#include "harness/commands.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <regex>
#include <sstream>

#include "harness/doctor.hpp"
#include "harness/host.hpp"
#include "harness/list.hpp"
#include "harness/names.hpp"
#include "harness/plan.hpp"
#include "harness/progress.hpp"
#include "harness/runner.hpp"
#include "harness/store.hpp"
#include "harness/supervisor.hpp"
#include "reports/export.hpp"
#include "reports/report.hpp"

namespace hilbench {
namespace {

DeviceKind parse_device(const std::string& device) {
  if (device.empty()) return DeviceKind::automatic;
  if (device == "cpu") return DeviceKind::cpu;
  if (device == "cuda" || device.starts_with("cuda:")) return DeviceKind::cuda;
  throw UsageError(
      {.what = fmt::format("unknown device '{}'", device), .where = "--device", .remedy = "cpu or cuda[:i]"});
}

Sweep load(const RunArguments& arguments) {
  return load_sweep(arguments.sweep, {.axes = arguments.axes, .device = parse_device(arguments.device)},
                    known_names());
}

Plan filtered(Plan plan, const std::string& filter) {
  if (filter.empty()) return plan;
  std::regex pattern;
  try {
    pattern = std::regex(filter);
  } catch (const std::regex_error& error) {
    throw UsageError({.what = fmt::format("bad regular expression '{}'", filter),
                      .where = "--filter",
                      .why = error.what()});
  }
  Plan result;
  for (Comparison& comparison : plan.comparisons) {
    Comparison kept = comparison;
    kept.variants.clear();
    kept.reference.reset();
    bool found = false;
    for (std::size_t i = 0; i < comparison.variants.size(); ++i) {
      const bool matches = std::regex_search(comparison.case_id + "/" + comparison.variants[i].id, pattern);
      found = found || matches;
      if (!matches && comparison.reference != i) continue;  // ratios need the reference beside them
      if (comparison.reference == i) kept.reference = kept.variants.size();
      kept.variants.push_back(comparison.variants[i]);
    }
    if (found) result.comparisons.push_back(std::move(kept));
  }
  if (result.comparisons.empty())
    throw UsageError(
        {.what = fmt::format("'{}' matches no variant", filter),
         .where = "--filter",
         .remedy = "`hilbench plan` lists cases and variants; the text searched is CASE/VARIANT"});
  return result;
}

void write_text(const std::filesystem::path& file, const std::function<void(std::ostream&)>& write) {
  if (file.empty()) {
    write(std::cout);
    std::cout.flush();
    if (!std::cout) throw EnvironmentError({.what = "cannot write to standard output"});
    return;
  }
  std::ofstream out(file, std::ios::binary);
  if (out) write(out);
  out.close();
  if (!out) throw UsageError({.what = "cannot write the file", .where = file.string()});
}

// Other programs take processor time: said before measuring, since it widens every interval. Empty on a quiet
// machine.
std::string busy_note(const Host& host) {
  double load = 0;
  if (::getloadavg(&load, 1) != 1 || load < 0.5) return "";
  return fmt::format("note: this machine is busy (load {:.1f} on {} cores): expect wide intervals", load,
                     host.cores);
}

void print_summary(const RunSummary& summary, const std::filesystem::path& folder) {
  fmt::print("{} records ok, {} failed, {} invalid, {} skipped", summary.ok, summary.failed, summary.invalid,
             summary.skipped);
  if (summary.resumed > 0) fmt::print(" ({} comparisons were measured before)", summary.resumed);
  fmt::print("\n{}\nnext: hilbench report {}\n", (folder / "results.sqlite").string(), folder.string());
}

}  // namespace

ExitCode run_command(const RunArguments& arguments) {
  const Sweep sweep = load(arguments);
  const Host host = inspect_host();
  const Plan plan = filtered(make_plan(sweep, host), arguments.filter);
  if (arguments.dry_run) {
    fmt::print("{}", plan_table(plan));
    return ExitCode::done;
  }
  RunOptions options{.folder = arguments.folder, .dump = arguments.dump, .command = arguments.command};
  if (options.folder.empty()) options.folder = std::filesystem::path("results") / sweep.name;
  if (arguments.fresh) options.start = Start::fresh;
  catch_stop_signals();
  Progress progress = Progress::for_stream(stderr);
  if (const std::string busy = busy_note(host); !busy.empty()) progress.note(busy);
  const RunSummary summary = run_plan(sweep, plan, host, options, progress);
  print_summary(summary, options.folder);
  return summary.failed > 0 ? ExitCode::failed : ExitCode::done;
}

ExitCode plan_command(const RunArguments& arguments) {
  fmt::print("{}", plan_table(filtered(make_plan(load(arguments), inspect_host()), arguments.filter)));
  return ExitCode::done;
}

ExitCode report_command(const ReportArguments& arguments) {
  const Store store = Store::open_for_reading(arguments.folder);
  const ReportInput input{store.records(), store.meta(), arguments.folder, arguments.claims};
  const ReportOutput output =
      write_report(input, arguments.output.empty() ? arguments.folder : arguments.output);
  for (const std::string& note : output.notes) fmt::print(stderr, "hilbench: note: {}\n", note);
  fmt::print("{}\n", (output.folder / "report.html").string());
  return ExitCode::done;
}

ExitCode export_command(const ExportArguments& arguments) {
  const std::vector<Record> records = Store::open_for_reading(arguments.folder).records();
  std::ostringstream text;
  export_records(arguments.format, records, text);
  write_text(arguments.output, [&](std::ostream& out) { out << text.str(); });
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
