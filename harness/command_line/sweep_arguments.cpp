#include "harness/command_line/sweep_arguments.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "harness/launched/launch.hpp"
#include "harness/plan/filter.hpp"
#include "harness/run/step_progress.hpp"
#include "harness/sweep/claim_sweeps.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/base/text/text.hpp"

namespace hilbench {
namespace {

struct DeviceChoice {
  DeviceKind kind = DeviceKind::automatic;
  std::optional<int> ordinal;  // number of the GPU, if one is named
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

std::int64_t checked_processes(std::int64_t processes) {
  if (processes < 1 || processes > kMaxProcesses)
    throw UsageError({.what = fmt::format("{} processes", processes),
                      .where = "--processes",
                      .remedy = fmt::format("1 to {}", kMaxProcesses)});
  return processes;
}

}  // namespace

Sweep load_or_find(const std::filesystem::path& file, const SweepOverrides& overrides) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(file, error);
  const bool is_folder = std::filesystem::is_directory(status);
  const bool named_as_file = file.extension() == ".yaml" || file.extension() == ".yml";
  if (named_as_file || (std::filesystem::exists(status) && !is_folder)) return load_sweep(file, overrides);
  const std::string name = file.string();
  if (const EmbeddedSweep* found = find_embedded_sweep(name)) return parse_embedded(*found, overrides);
  if (is_folder) return load_sweep(file, overrides);  // refused
  std::vector<std::string_view> names;
  for (const EmbeddedSweep& each : embedded_sweeps()) {
    names.push_back(each.name());
    names.push_back(each.path());
  }
  const std::string near = nearest_name(name.substr(0, 200), names);
  throw UsageError({.what = fmt::format("no sweep '{}'", one_line(name, 80)),
                    .why = "no file has this name, and `hilbench list sweeps` does not list it",
                    .remedy = near.empty() ? "`hilbench init` writes a first sweep"
                                           : fmt::format("did you mean '{}'?", near)});
}

void add_sweep_options(Options& options, SweepArguments& arguments, Budget budget) {
  options.optional_argument("SWEEP", arguments.file,
                            "sweep file, or the name of a sweep of this program (`hilbench list sweeps`)");
  options.text("--claim", arguments.claim,
               "instead of a file: the sweep of this build that answers the claim (`hilbench list claims`)");
  options.text("--filter", arguments.filter,
               "keep only variants whose CASE/VARIANT contains a match of this regular expression");
  options.texts("--axis", arguments.axes,
                "NAME=V,V: replace the values of a parameter in every case; may be repeated");
  options.text("--device", arguments.device, "cpu or cuda[:i]: replace the device of every case");
  options.bytes("--memory", arguments.memory_bytes,
                "plan for a device with this much memory (80GB, 8GiB), whatever it has");
  if (budget == Budget::of_comparison) {
    options.text("--part", arguments.part,
                 "I/N: only every N-th case, from the I-th on; `hilbench join` joins the runs of all parts");
    options.duration(
        "--budget", arguments.budget_s,
        "time for timing one comparison (90, 90s, 3m), instead of the sweep's budget_s; it holds even if "
        "few rounds are left, and the rows say so");
    options.integer("--processes", arguments.processes,
                    "measure every case in this many fresh processes, instead of the sweep's processes; "
                    "published results have 5 on GPUs and 10 on processors");
  }
  options.number("--execution-limit", arguments.execution_limit_s,
                 "skip a case if one execution is estimated to take more seconds than this");
  options.flag("--allow-external", arguments.allow_external,
               "run the programs of external baselines; without this they are skipped");
}

Sweep sweep_of(const SweepArguments& arguments) {
  const SweepOverrides overrides = {
      .axes = arguments.axes,
      .device = parse_device(arguments.device).kind,
      .external_use = arguments.allow_external ? ExternalUse::allowed : ExternalUse::refused};
  Sweep sweep;
  if (arguments.claim.empty()) {
    if (arguments.file.empty())
      throw UsageError(
          {.what = "no sweep is given",
           .remedy = "SWEEP.yaml, or --claim ID; `hilbench list sweeps` names those of this program"});
    sweep = load_or_find(arguments.file, overrides);
  } else {
    if (!arguments.file.empty())
      throw UsageError(
          {.what = "a sweep file and a claim are given", .where = "--claim", .remedy = "give one of them"});
    sweep = parse_embedded(sweep_of_claim(arguments.claim), overrides);
  }
  if (arguments.budget_s) {
    sweep.measure.budget_s = *arguments.budget_s;
    sweep.measure.rounds_bend = true;
  }
  if (arguments.processes) sweep.measure.processes = checked_processes(*arguments.processes);
  return sweep;
}

std::optional<int> gpu_ordinal(const SweepArguments& arguments) {
  return parse_device(arguments.device).ordinal;
}

Plan plan_of(const SweepArguments& arguments, const Sweep& sweep, const Site& site) {
  const bool tells = launch_of_this_process().rank == 0;
  StepProgress progress(stderr, tells ? StatusLine::style_for(stderr) : StatusLine::Style::silent, "plan");
  Plan plan =
      make_plan(sweep, site, [&](const std::string& name) { progress.begin("count the pairs of " + name); });
  plan = filtered(std::move(plan), arguments.filter);
  if (!arguments.part.empty()) plan = parted(std::move(plan), parse_part(arguments.part));
  return limited(std::move(plan), arguments.execution_limit_s);
}

}  // namespace hilbench
