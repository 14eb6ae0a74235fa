// `hilbench costs`: what a sweep costs but for time, and whether that grew.
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/command_line/command_line.hpp"
#include "harness/command_line/sweep_arguments.hpp"
#include "harness/costs/compare.hpp"
#include "harness/costs/count.hpp"
#include "harness/costs/execution.hpp"
#include "harness/costs/kernels.hpp"
#include "harness/costs/plan.hpp"
#include "harness/plan/filter.hpp"
#include "harness/run/progress.hpp"
#include "harness/run/stop_signal.hpp"
#include "kernels/base/files/files.hpp"
#include "kernels/base/text/json.hpp"

namespace hilbench {
namespace {

struct CostsArguments {
  SweepArguments sweep;
  std::filesystem::path output, accepted;
  bool accept = false;
  std::string instructions = "auto";
};

InstructionSource source_of(const std::string& name) {
  if (name == "none") return InstructionSource::none;
  if (name == "callgrind") return InstructionSource::callgrind;
  return name == "hardware" ? InstructionSource::hardware : InstructionSource::automatic;
}

bool is_whole_sweep(const SweepArguments& sweep) {
  return sweep.filter.empty() && sweep.axes.empty() && sweep.device.empty() && !sweep.execution_limit_s &&
         !sweep.memory_bytes;
}

// Counting takes long; a file that cannot be written should be known before.
void expect_writable(const std::filesystem::path& file) {
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  const bool is_folder = std::filesystem::is_directory(file);
  if (std::filesystem::exists(file) && !is_folder && !std::filesystem::is_regular_file(file))
    return;  // a device
  const int error = is_folder ? EISDIR : ::access(folder.c_str(), W_OK | X_OK) == 0 ? 0 : errno;
  if (error != 0) throw_file_error(error, {.what = "cannot write the costs", .where = file.string()});
}

std::optional<CostTable> read_accepted(const std::filesystem::path& file, const Sweep& sweep) {
  CostTable accepted = costs_from_json(read_text(file, "file of accepted costs", kMostInputBytes), file);
  if (accepted.sweep != sweep.name)
    throw UsageError(
        {.what = fmt::format("these costs are of the sweep '{}', not '{}'", accepted.sweep, sweep.name),
         .where = file.string()});
  return accepted;
}

CostTable take_costs(const CostsArguments& arguments, const Sweep& sweep) {
  const InstructionCounter counter = find_instruction_counter(source_of(arguments.instructions));
  const Site site = find_site(sweep, {.use = SiteUse::plan_only,
                                      .gpu = gpu_ordinal(arguments.sweep),
                                      .memory_bytes = arguments.sweep.memory_bytes});
  const Plan plan = plan_of(arguments.sweep, sweep, site);
  CostTable table = costs_of_plan(sweep, plan);
  KernelCosts kernels = kernel_costs();
  table.kernels_basis = std::move(kernels.basis);
  table.kernels = std::move(kernels.rows);
  table.device_code = std::move(kernels.device_code);
  StatusLine status(stderr);
  catch_stop_signals();
  count_instructions(table, sweep, plan, site, counter, arguments.accept ? Repeat::twice : Repeat::once,
                     [&](const std::string& case_id) { status.show("counting " + case_id); });
  if (stop_signal() != 0) throw Interrupted{};
  return table;
}

// What this build or machine cannot know must not vanish from the accepted costs unnoticed.
void accept(const std::filesystem::path& file, CostTable table, const std::optional<CostTable>& before,
            const CostsArguments& arguments) {
  if (table.instructions.taken_with.empty() && arguments.instructions != "none")
    throw UsageError({.what = "nothing is accepted without instructions",
                      .where = file.string(),
                      .why = table.instructions.absence,
                      .remedy = "--instructions none accepts the other costs alone"});
  if (table.kernels.empty() && before) {
    table.kernels = before->kernels;
    table.kernels_basis = before->kernels_basis;
    table.device_code = before->device_code;
  }
  write_file(file, costs_json(table));
  fmt::print("accepted: {}\n", file.string());
}

ExitCode judge(const CostTable& accepted, const CostTable& now, const CostsArguments& arguments) {
  const bool whole = is_whole_sweep(arguments.sweep);
  const CostVerdict verdict = compare_costs(accepted, now, [&](const CostRow&) { return whole; });
  fmt::print("{}", verdict_text(verdict, arguments.accepted.string()));
  return exit_code(verdict);
}

ExitCode costs_command(CostsArguments arguments) {
  // Every processor has these products, so the plan's costs are the same everywhere.
  ::setenv("HILBENCH_BF16", "widened", 1);
  const bool compares = !arguments.accepted.empty();
  if (!compares) arguments.accepted = costs_file_of(arguments.sweep.file);
  if (arguments.accept && !is_whole_sweep(arguments.sweep))
    throw UsageError({.what = "only the costs of a whole sweep can be accepted",
                      .where = "--accept",
                      .remedy = "leave --filter, --axis, --device, --memory and --execution-limit out"});
  if (arguments.accept && !compares && arguments.sweep.file.empty())
    throw UsageError({.what = "no file for the accepted costs of a claim",
                      .where = "--claim",
                      .remedy = "name one: --accepted FILE"});
  const Sweep sweep = sweep_of(arguments.sweep);
  std::optional<CostTable> accepted;
  const bool is_there = std::filesystem::exists(arguments.accepted);
  if ((compares && !arguments.accept) || (is_there && (compares || arguments.accept)))
    accepted = read_accepted(arguments.accepted, sweep);
  if (!arguments.output.empty()) expect_writable(arguments.output);
  if (arguments.accept) expect_writable(arguments.accepted);
  const CostTable table = take_costs(arguments, sweep);
  if (!arguments.output.empty()) write_file(arguments.output, costs_json(table));
  fmt::print("{}", costs_text(table));
  ExitCode status = ExitCode::done;
  if (accepted) status = judge(*accepted, table, arguments);
  if (!arguments.accept) return status;
  accept(arguments.accepted, table, accepted, arguments);
  return ExitCode::done;
}

}  // namespace

void add_costs(Commands& commands) {
  auto arguments = std::make_shared<CostsArguments>();
  Options options = commands.add("costs",
                                 "FLOPs, bytes, memory and instructions of each variant, and registers and "
                                 "spills of each GPU kernel: costs "
                                 "without noise. With --accepted: 1 if one of them grew",
                                 [arguments] { return costs_command(*arguments); });
  add_sweep_options(options, arguments->sweep, Budget::of_command);
  options.path("-o", arguments->output, "file for the costs, as JSON");
  options.path("--accepted", arguments->accepted, "hold the costs against those of this file");
  options.flag("--accept", arguments->accept,
               "make these the accepted costs: write --accepted FILE; default: SWEEP.costs.json");
  options.choice(
      "--instructions", arguments->instructions, {"none", "callgrind", "hardware", "auto"},
      "what counts instructions: valgrind's callgrind, a perf event, or what is here (default: auto)");
  options.examples(
      {{"hilbench costs sweeps/ci.yaml", "FLOPs, bytes, memory and instructions"},
       {"hilbench costs sweeps/ci.yaml --accepted sweeps/ci.costs.json", "did one of them grow?"}});
}

// Counting starts this in a process of its own, perhaps under valgrind.
void add_count_executions(Commands& commands) {
  commands.add("count-executions", "", [] {
    std::string line;
    std::getline(std::cin, line);
    fmt::print("{}\n", count_executions(parse_json(line, "the request")).dump());
    return ExitCode::done;
  });
}

}  // namespace hilbench
