#include "harness/commands.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <regex>
#include <sstream>
#include <string>
#include <utility>

#include "harness/doctor.hpp"
#include "harness/host.hpp"
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
  return load_sweep(arguments.sweep,
                    {.axes = arguments.axes,
                     .device = parse_device(arguments.device).kind,
                     .external_use = arguments.allow_external ? ExternalUse::allowed : ExternalUse::refused},
                    known_names());
}

// The host, and its GPU where some case may want one. A GPU that is named must be there.
Host host_for(const Sweep& sweep, const std::optional<int>& ordinal) {
  Host host = inspect_host();
  const std::vector<SweepCase> cases = cases_of(sweep);
  const bool wanted = std::any_of(cases.begin(), cases.end(), [](const SweepCase& swept) {
    return swept.work.device != DeviceKind::cpu;
  });
  if (!wanted) return host;
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
  return host;
}

// The host as the plan is to see it: its GPU, or where it has none it itself, with the memory that is named.
Host planned_host(Host host, const std::optional<std::int64_t>& memory_bytes) {
  if (memory_bytes) (host.gpu ? host.gpu->memory_bytes : host.available_memory_bytes) = *memory_bytes;
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

// Leaves the variants that `pattern` finds, and the reference beside them for the ratios; none where it finds
// none.
void keep_matches(Comparison& comparison, const std::regex& pattern) {
  const std::vector<PlannedVariant> variants = std::exchange(comparison.variants, {});
  const std::optional<std::size_t> reference = std::exchange(comparison.reference, std::nullopt);
  bool found = false;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const bool matches = std::regex_search(comparison.case_id + "/" + variants[i].id, pattern);
    found = found || matches;
    if (!matches && reference != i) continue;
    if (reference == i) comparison.reference = comparison.variants.size();
    comparison.variants.push_back(variants[i]);
  }
  if (!found) comparison.variants.clear();
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

// Whether `folder` could be made and written to, without making it.
void check_dump_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::path existing = std::filesystem::absolute(folder);
  while (!std::filesystem::exists(existing, error) && existing.has_relative_path())
    existing = existing.parent_path();
  if (::access((existing / "").c_str(), W_OK | X_OK) != 0)
    throw UsageError({.what = fmt::format("cannot write to '{}'", folder.string()),
                      .where = "--dump",
                      .why = fmt::format("{}: {}", existing.string(), std::strerror(errno))});
}

void print_summary(const RunSummary& summary, const std::filesystem::path& folder) {
  fmt::print("{} records ok, {} failed, {} invalid, {} skipped", summary.ok, summary.failed, summary.invalid,
             summary.skipped);
  if (summary.resumed > 0) fmt::print(" ({} comparisons were measured before)", summary.resumed);
  fmt::print("\n{}\nnext: hilbench report {}\n", (folder / "results.sqlite").string(), folder.string());
}

ReportInput report_input(const ReportArguments& arguments) {
  ReportInput input;
  if (holds_export(arguments.folder)) {
    input = read_exported(arguments.folder);
  } else {
    const Store store = Store::open_for_reading(arguments.folder);
    input = {store.records(), store.meta(), arguments.folder, {}};
  }
  input.claims_file = arguments.claims;
  input.chart_library = arguments.charts;
  return input;
}

}  // namespace

ExitCode run_command(const RunArguments& arguments) {
  const Sweep sweep = load(arguments);
  const Host host = host_for(sweep, parse_device(arguments.device).ordinal);
  const Plan plan = filtered(make_plan(sweep, planned_host(host, arguments.memory_bytes)), arguments.filter);
  if (arguments.dry_run) {
    fmt::print("{}", plan_table(plan));
    return ExitCode::done;
  }
  if (!arguments.profile.empty()) {
    fmt::print("profiled {} {}\n", profile_variant(sweep, plan, host, arguments.profile), arguments.profile);
    return ExitCode::done;
  }
  RunOptions options{.folder = arguments.folder, .dump = arguments.dump, .command = arguments.command};
  if (options.folder.empty()) options.folder = std::filesystem::path("results") / sweep.name;
  if (arguments.fresh) options.start = Start::fresh;
  if (!options.dump.empty()) check_dump_folder(options.dump);
  catch_stop_signals();
  Progress progress = Progress::for_stream(stderr);
  const RunSummary summary = run_plan(sweep, plan, host, options, progress);
  print_summary(summary, options.folder);
  return summary.failed > 0 ? ExitCode::failed : ExitCode::done;
}

ExitCode plan_command(const RunArguments& arguments) {
  const Sweep sweep = load(arguments);
  const Host host =
      planned_host(host_for(sweep, parse_device(arguments.device).ordinal), arguments.memory_bytes);
  fmt::print("{}", arguments.longest ? longest_table(sweep, host)
                                     : plan_table(filtered(make_plan(sweep, host), arguments.filter)));
  return ExitCode::done;
}

ExitCode report_command(const ReportArguments& arguments) {
  const ReportInput input = report_input(arguments);
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
