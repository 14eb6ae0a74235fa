#include "harness/commands/plan.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "harness/command_line/command_line.hpp"
#include "harness/launched/launch.hpp"
#include "harness/plan/plan_tables.hpp"
#include "kernels/machine/named_gpus.hpp"

namespace hilbench {

ExitCode plan_command(const SweepArguments& arguments, PlanTable table, const std::string& gpu) {
  const Launch launch = launch_of_this_process();
  const Sweep sweep = sweep_of(arguments);
  const Site site =
      find_site(sweep, {.use = SiteUse::plan_only,
                        .gpu = gpu_ordinal(arguments),
                        .memory_bytes = arguments.memory_bytes,
                        .processes = launch.processes,
                        .planned_gpu = gpu.empty() ? std::nullopt : std::optional(named_gpu(gpu))});
  if (!gpu.empty() && site.gpu)
    fmt::print(stderr, "hilbench: note: cases on cuda are planned for the data sheet of {}\n",
               site.gpu->name);
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

void add_plan(Commands& commands) {
  struct Arguments {
    SweepArguments sweep;
    bool longest = false;
    std::string gpu;
  };
  auto arguments = std::make_shared<Arguments>();
  Options options =
      commands.add("plan", "print what a sweep would measure on this machine; nothing is run", [arguments] {
        return plan_command(arguments->sweep, arguments->longest ? PlanTable::longest : PlanTable::variants,
                            arguments->gpu);
      });
  add_sweep_options(options, arguments->sweep);
  options.flag("--longest", arguments->longest,
               "print instead, for each case, the longest sequence that fits the device's memory");
  options.choice("--gpu", arguments->gpu, names_of_gpus(),
                 "plan for a GPU that need not be here, by its data sheet");
  options.exclude("--gpu", {"--device"});
  options.exclude("--longest", {"--filter", "--part", "--execution-limit"});
  options.examples(
      {{"hilbench plan quick", "a sweep of the program, by name"},
       {"hilbench plan mine.yaml --budget 5", "how long it would take with less time a comparison"},
       {"hilbench plan hybrid-core --gpu gtx-1080", "what another machine would do"},
       {"hilbench plan longest --longest --memory 80GB", "what fits a device that is not here"}});
}

}  // namespace hilbench
