#include "harness/commands/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "harness/command_line/command_line.hpp"
#include "harness/launched/launch.hpp"
#include "harness/plan/plan_tables.hpp"
#include "harness/plan/sector_tables.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/machine/named_gpus.hpp"

namespace hilbench {

namespace {

// `gpu`: the name of one that need not be here; then a sweep is planned for it whose device is not asked for.
Site planned_site(const Sweep& sweep, const SweepArguments& arguments, const std::string& gpu,
                  int processes) {
  return find_site(sweep, {.use = SiteUse::plan_only,
                           .gpu = gpu_ordinal(arguments),
                           .memory_bytes = arguments.memory_bytes,
                           .processes = processes,
                           .planned_gpu = gpu.empty() ? std::nullopt : std::optional(named_gpu(gpu))});
}

struct PlanArguments {
  SweepArguments sweep;
  bool longest = false;
  bool sectors = false;
  bool json = false;
  std::string gpu;
};

ExitCode sectors_command(const PlanArguments& arguments) {
  const Sweep sweep = sweep_of(arguments.sweep);
  const Site site = planned_site(sweep, arguments.sweep, arguments.gpu, 1);
  const Plan plan = plan_of(arguments.sweep, sweep, site);
  const bool on_gpus =
      std::any_of(plan.comparisons.begin(), plan.comparisons.end(),
                  [](const Comparison& each) { return each.work.device == DeviceKind::cuda; });
  if (on_gpus && !site.gpu)
    throw UsageError({.what = "no GPU is named",
                      .where = "--sectors",
                      .why = site.gpu_absence,
                      .remedy = fmt::format("name one: --gpu {}", fmt::join(names_of_gpus(), ", "))});
  const Gpu* gpu = on_gpus ? &*site.gpu : nullptr;
  const std::vector<SectorRow> rows = sector_rows(plan, gpu);
  fmt::print("{}", arguments.json ? sector_json(rows, gpu) : sector_table(rows, gpu, screen_of(stdout)));
  return ExitCode::done;
}

ExitCode any_plan(PlanArguments arguments) {
  if (!arguments.gpu.empty()) arguments.sweep.device = "cuda";
  if (arguments.sectors) return sectors_command(arguments);
  if (arguments.json) throw UsageError({.what = "--json without --sectors", .remedy = "add --sectors"});
  return plan_command(arguments.sweep, arguments.longest ? PlanTable::longest : PlanTable::variants,
                      arguments.gpu);
}

}  // namespace

ExitCode plan_command(const SweepArguments& arguments, PlanTable table, const std::string& gpu) {
  const Launch launch = launch_of_this_process();
  const Sweep sweep = sweep_of(arguments);
  const Site site = planned_site(sweep, arguments, gpu, launch.processes);
  if (!gpu.empty() && site.gpu)
    fmt::print(stderr, "hilbench: note: planned for the data sheet of {}, with the host that is here\n",
               site.gpu->name);
  else if (site.gpu_is_assumed)
    fmt::print(stderr, "hilbench: note: {}; cases on cuda are planned for compute capability {}\n",
               site.gpu_absence, site.gpu->capability_text());
  const Screen screen = screen_of(stdout);
  const std::string text =
      table == PlanTable::longest
          ? longest_table(sweep, site, screen)
          : plan_table(plan_of(arguments, sweep, site), sweep.measure, sweep.counters.size(), screen);
  if (launch.rank == 0)
    fmt::print("{}", text);
  else
    fmt::print(stderr, "hilbench: note: rank {} of {} of an MPI launcher: rank 0 prints the plan\n",
               launch.rank, launch.processes);
  return ExitCode::done;
}

void add_plan(Commands& commands) {
  auto arguments = std::make_shared<PlanArguments>();
  Options options = commands.add("plan", "print what a sweep would measure on this machine; nothing is run",
                                 [arguments] { return any_plan(*arguments); });
  add_sweep_options(options, arguments->sweep);
  options.flag("--longest", arguments->longest,
               "print instead, for each case, the longest sequence that fits the device's memory");
  options.flag("--sectors", arguments->sectors,
               "print instead which 32-byte sectors each variant asks for on a GPU, or 64-byte lines on a "
               "processor, and whether its order can change what a cache sees");
  options.flag("--json", arguments->json, "print --sectors as JSON");
  options.choice("--gpu", arguments->gpu, names_of_gpus(),
                 "plan every case for a GPU that need not be here, by its data sheet");
  options.exclude("--gpu", {"--device"});
  options.exclude("--longest", {"--filter", "--part", "--execution-limit", "--sectors"});
  options.examples(
      {{"hilbench plan quick", "a sweep of the program, by name"},
       {"hilbench plan mine.yaml --budget 5", "how long it would take with less time a comparison"},
       {"hilbench plan hybrid-core --gpu gtx-1080", "what a GPU would do, without one"},
       {"hilbench plan cache-order --sectors --gpu a100", "what a GPU would read, without one"},
       {"hilbench plan longest --longest --memory 80GB", "what fits a device that is not here"}});
}

}  // namespace hilbench
