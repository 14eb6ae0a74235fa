#include "harness/commands/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "baselines/derived_sectors.hpp"
#include "harness/command_line/command_line.hpp"
#include "harness/launched/launch.hpp"
#include "harness/plan/plan_tables.hpp"
#include "harness/plan/sector_tables.hpp"
#include "kernels/base/text/error.hpp"

namespace hilbench {

ExitCode plan_command(const SweepArguments& arguments, PlanTable table) {
  const Launch launch = launch_of_this_process();
  const Sweep sweep = sweep_of(arguments);
  const Site site = find_site(sweep, {.use = SiteUse::plan_only,
                                      .gpu = gpu_ordinal(arguments),
                                      .memory_bytes = arguments.memory_bytes,
                                      .processes = launch.processes});
  if (site.gpu_is_assumed)
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

namespace {

struct PlanArguments {
  SweepArguments sweep;
  bool longest = false;
  bool sectors = false;
  bool json = false;
  std::string on;
};

// The GPU that is named, or that of the site.
const Gpu& asked_gpu(const PlanArguments& arguments, Site& site) {
  if (!arguments.on.empty()) {
    site.gpu = *known_gpu(arguments.on);
    site.gpu_is_assumed = true;
  }
  if (!site.gpu)
    throw UsageError({.what = "no GPU is named",
                      .where = "--sectors",
                      .why = site.gpu_absence,
                      .remedy = fmt::format("name one: --on {}", fmt::join(known_gpu_names(), ", "))});
  return *site.gpu;
}

ExitCode sectors_command(PlanArguments arguments) {
  if (!arguments.on.empty() && arguments.sweep.device.empty()) arguments.sweep.device = "cuda";
  const Sweep sweep = sweep_of(arguments.sweep);
  Site site = find_site(sweep, {.use = SiteUse::plan_only,
                                .gpu = gpu_ordinal(arguments.sweep),
                                .memory_bytes = arguments.sweep.memory_bytes});
  const Gpu& gpu = asked_gpu(arguments, site);
  const std::vector<SectorRow> rows = sector_rows(plan_of(arguments.sweep, sweep, site), gpu);
  fmt::print("{}", arguments.json ? sector_json(rows, gpu) : sector_table(rows, gpu, screen_of(stdout)));
  return ExitCode::done;
}

ExitCode any_plan(const PlanArguments& arguments) {
  if (arguments.sectors) return sectors_command(arguments);
  if (!arguments.on.empty() || arguments.json)
    throw UsageError({.what = fmt::format("{} without --sectors", arguments.json ? "--json" : "--on"),
                      .remedy = "add --sectors"});
  return plan_command(arguments.sweep, arguments.longest ? PlanTable::longest : PlanTable::variants);
}

}  // namespace

void add_plan(Commands& commands) {
  auto arguments = std::make_shared<PlanArguments>();
  Options options = commands.add("plan", "print what a sweep would measure on this machine; nothing is run",
                                 [arguments] { return any_plan(*arguments); });
  add_sweep_options(options, arguments->sweep);
  options.flag("--longest", arguments->longest,
               "print instead, for each case, the longest sequence that fits the device's memory");
  options.flag(
      "--sectors", arguments->sectors,
      "print instead which 32-byte sectors each variant asks for on a GPU, and whether its order can "
      "change what a cache sees");
  std::vector<std::string> names;
  for (const std::string_view name : known_gpu_names()) names.emplace_back(name);
  options.choice("--on", arguments->on, names, "the GPU of --sectors; it need not be here");
  options.flag("--json", arguments->json, "print --sectors as JSON");
  options.exclude("--longest", {"--filter", "--part", "--execution-limit", "--sectors"});
  options.examples(
      {{"hilbench plan quick", "a sweep of the program, by name"},
       {"hilbench plan mine.yaml --budget 5", "how long it would take with less time a comparison"},
       {"hilbench plan cache-order --sectors --on a100", "what a GPU would read, without one"},
       {"hilbench plan longest --longest --memory 80GB", "what fits a device that is not here"}});
}

}  // namespace hilbench
