// `hilbench init`: a first sweep for this machine, or a kernel or rival of one's own.
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
#include "harness/sweep/kernel_templates.hpp"
#include "harness/sweep/sweep.hpp"
#include "kernels/base/files/files.hpp"
#include "kernels/base/text/share.hpp"
#include "kernels/base/text/text.hpp"
#include "kernels/machine/gpu.hpp"
#include "kernels/machine/host.hpp"
#include "reports/records/store_folder.hpp"
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

void refuse_existing(const std::filesystem::path& file) {
  std::error_code error;
  if (std::filesystem::exists(std::filesystem::symlink_status(file, error)))
    throw UsageError({.what = "the file exists",
                      .where = file.string(),
                      .why = "init overwrites nothing",
                      .remedy = "-o with another name"});
}

// `folder`: empty for the present one.
ExitCode write_template(const KernelTemplate& made, const std::filesystem::path& folder) {
  for (const TemplateFile& file : made.files) refuse_existing(folder / file.path);
  for (const TemplateFile& file : made.files) {
    if (const std::filesystem::path parent = (folder / file.path).parent_path(); !parent.empty())
      make_writable_folder(parent);
    write_file(folder / file.path, file.text);
    fmt::print("{}\n", (folder / file.path).string());
  }
  const std::string begin = folder.empty() ? "" : fmt::format("cd {} && ", shell_quoted(folder.string()));
  for (std::size_t i = 0; i < made.commands.size(); ++i)
    fmt::print("{}{}{}\n", i == 0 ? "next: " : "      ", i == 0 ? begin : "", made.commands[i]);
  if (!made.test.empty()) fmt::print("test: {}\n", made.test);
  return ExitCode::done;
}

struct InitArguments {
  std::filesystem::path file;
  std::string kernel;
  bool rival = false;
};

ExitCode init_kernel(const InitArguments& arguments) {
  if (!arguments.kernel.empty() && arguments.rival)
    throw UsageError({.what = "--kernel and --rival", .remedy = "call init once for each"});
  const bool has_gpu = survey_gpus().absence.empty();
  return write_template(
      arguments.rival ? rival_template(has_gpu) : kernel_template(arguments.kernel, has_gpu), arguments.file);
}

ExitCode init_command(const std::filesystem::path& file) {
  refuse_existing(file);
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
  auto arguments = std::make_shared<InitArguments>();
  Options options = commands.add(
      "init", "write a first sweep that suits this machine, or a kernel of your own with its sweeps",
      [arguments] {
        if (arguments->rival || !arguments->kernel.empty()) return init_kernel(*arguments);
        return init_command(arguments->file.empty() ? "first.yaml" : arguments->file);
      });
  options.path("-o", arguments->file,
               "file to write, which must not exist; default: first.yaml; of --kernel and --rival a folder; "
               "default: this one");
  options.choice("--kernel", arguments->kernel, kernel_template_names(),
                 "write a small kernel in this language, which runs, with a sweep and a test");
  options.flag("--rival", arguments->rival, "write a program of a rival, which runs, with a sweep");
  options.examples(
      {{"hilbench init", "writes first.yaml"},
       {"hilbench init -o mine.yaml", "another name"},
       {"hilbench init --kernel c -o mine", "mine/mine.c, mine.yaml, mine-test.yaml, kernel.h"}});
}

}  // namespace hilbench
