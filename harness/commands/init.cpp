// `hilbench init`: a first sweep for this machine.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>
#include <string>

#include "baselines/table.hpp"
#include "harness/command_line/command_line.hpp"
#include "harness/plan/expected_time.hpp"
#include "harness/plan/plan.hpp"
#include "harness/plan/site.hpp"
#include "harness/sweep/first_sweep.hpp"
#include "harness/sweep/sweep.hpp"
#include "kernels/base/files/files.hpp"
#include "kernels/base/text/share.hpp"
#include "kernels/base/text/text.hpp"
#include "kernels/machine/gpu.hpp"
#include "kernels/machine/host.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

// "My sweep.yaml" is "my-sweep".
std::string name_of(const std::filesystem::path& file) {
  std::string name = file.stem().string();
  for (char& c : name) {
    const auto letter = static_cast<unsigned char>(c);
    c = letter < 0x80 && std::isalnum(letter) != 0 ? static_cast<char>(std::tolower(letter))
        : c == '_'                                 ? '_'
                                                   : '-';
  }
  if (name == "-" || name == "null") return "sweep";  // YAML reads them as a list, and as nothing
  return name.substr(0, 100);
}

// Baselines of this build, no programs of others, that compute an ordinary case here.
std::vector<std::string> baselines_here(const Case& ordinary, const Gpu* gpu) {
  std::vector<std::string> names;
  for (const Implementation* each : implementation_table()) {
    if (each->kind != ImplementationKind::baseline || each->external || each->device != ordinary.device)
      continue;
    if (!why_not(*each, ordinary, {BaselineName{std::string(each->name)}}, gpu))
      names.emplace_back(each->name);
  }
  return names;
}

FirstSweepMachine this_machine() {
  const Host host = inspect_host();
  const GpuSurvey survey = survey_gpus();
  const Gpu* gpu = survey.absence.empty() ? &survey.gpus.front() : nullptr;
  FirstSweepMachine machine;
  constexpr int kFirstWithBf16 = 80;  // compute capability
  Case ordinary{.kv_heads = 8, .device = gpu != nullptr ? DeviceKind::cuda : DeviceKind::cpu};
  if (gpu != nullptr) {
    if (gpu->compute_capability >= kFirstWithBf16) ordinary.dtype = Dtype::bf16;
    machine.device = gpu->name;
    machine.cache_bytes = gpu->l2_bytes;
  } else {
    machine.device = fmt::format("{}, {} cores", host.cpu, host.cores);
    for (const CacheLevel& cache : host.data_caches)
      machine.cache_bytes = std::max(machine.cache_bytes, cache.bytes);
  }
  machine.dtype = to_string(ordinary.dtype);
  machine.baselines = baselines_here(ordinary, gpu);
  return machine;
}

ExitCode init_command(const std::filesystem::path& file) {
  std::error_code error;
  if (std::filesystem::exists(std::filesystem::symlink_status(file, error)))
    throw UsageError({.what = "the file exists",
                      .where = file.string(),
                      .why = "init overwrites nothing",
                      .remedy = "-o with another name"});
  const std::string name = name_of(file);
  FirstSweepMachine machine = this_machine();
  // The plan knows the machine's rate: of one execution, of which the FLOPs are known.
  const auto planned = [&](const std::string& text) {
    const Sweep sweep = parse_sweep(text, file);
    return std::pair(sweep, make_plan(sweep, find_site(sweep, {.use = SiteUse::plan_only})));
  };
  const auto [unfitted, rates] = planned(first_sweep(name, machine));
  for (const PlannedVariant& variant : rates.comparisons.front().variants)
    if (variant.flops && variant.seconds && *variant.seconds > 0)
      machine.flops_per_s = std::max(machine.flops_per_s, *variant.flops / *variant.seconds);
  const std::string text = first_sweep(name, machine);
  const auto [sweep, plan] = planned(text);
  write_file(file, text);
  double seconds = 0;
  for (const Comparison& comparison : plan.comparisons)
    seconds += expected_time(sweep.measure, sweep.counters.size(), comparison).total_s();
  fmt::print("{}: {}, {} each; a run takes about {} on this machine ({})\n", file.string(),
             plural(plan.comparisons.size(), "case", "cases"),
             plural(sweep.variants.size(), "variant", "variants"), duration_text(seconds), machine.device);
  fmt::print("next: hilbench run {}\n", shell_quoted(file.string()));
  return ExitCode::done;
}

}  // namespace

void add_init(Commands& commands) {
  auto file = std::make_shared<std::filesystem::path>("first.yaml");
  Options options = commands.add("init", "write a first sweep, with comments, that suits this machine",
                                 [file] { return init_command(*file); });
  options.path("-o", *file, "file to write, which must not exist; default: first.yaml");
  options.examples({{"hilbench init", "writes first.yaml"}, {"hilbench init -o mine.yaml", "another name"}});
}

}  // namespace hilbench
