#include "harness/commands/command_line.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string>

#include "harness/commands/commands.hpp"
#include "harness/run/environment.hpp"
#include "harness/run/stop_signal.hpp"
#include "harness/worker/worker.hpp"
#include "kernels/base/byte_size.hpp"
#include "kernels/base/error.hpp"
#include "kernels/machine/host.hpp"
#include "reports/export/export.hpp"
#include "reports/tables/tables.hpp"

namespace hilbench {
namespace {

using Action = std::function<ExitCode()>;

std::string command_text(int argc, char** argv) {
  std::string text = "hilbench";
  for (int i = 1; i < argc; ++i) text += " " + shell_quoted(argv[i]);
  return text;
}

// An empty word is a variable that a script forgot, not an option left out.
CLI::Validator not_empty() {
  return CLI::Validator(
      [](std::string& text) { return text.empty() ? std::string("must not be empty") : std::string(); }, "");
}

// CLI::Range lets NaN through.
CLI::Validator up_to_a_million() {
  return CLI::Validator(
      [](std::string& text) {
        const double value = std::strtod(text.c_str(), nullptr);
        return value >= 0 && value <= 1e6 ? std::string() : std::string("is 0 to 1e6");
      },
      "");
}

// CLI11 reads 010 as 8 and 0x10 as 16; nothing else here does.
CLI::Validator decimal() {
  return CLI::Validator(
      [](std::string& text) {
        const std::size_t first = text.find_first_of("0123456789");
        const bool other = first + 1 < text.size() && text[first] == '0';
        return other ? fmt::format("'{}' is no decimal number", one_line(text, 80)) : std::string();
      },
      "");
}

void add_sweep_options(CLI::App& command, RunArguments& arguments) {
  command.add_option("SWEEP.yaml", arguments.sweep, "sweep file; sweeps/example.yaml explains every key")
      ->required();
  command
      .add_option("--filter", arguments.filter,
                  "only variants whose CASE/VARIANT this regular expression finds")
      ->check(not_empty());
  command
      .add_option("--axis", arguments.axes, "NAME=V,V: replace a parameter in every case; may be repeated")
      ->allow_extra_args(false);
  command.add_option("--device", arguments.device, "cpu or cuda[:i]: replace the device in every case")
      ->check(not_empty());
  command.add_option_function<std::string>(
      "--memory",
      [&arguments](const std::string& text) { arguments.memory_bytes = parse_bytes(text, "--memory"); },
      "plan for a device with so much memory (80GB, 8GiB), whatever it has");
  command
      .add_option("--budget", arguments.budget_s,
                  "seconds to time one comparison for, in place of the sweep's budget_s")
      ->check(up_to_a_million());
  command
      .add_option("--execution-limit", arguments.execution_limit_s,
                  "skip cases of which one execution is estimated to take more seconds than this")
      ->check(up_to_a_million());
  command.add_flag("--allow-external", arguments.allow_external,
                   "run the programs behind external baselines; without it they are skipped");
}

void add_run(CLI::App& app, RunArguments& arguments, Action& action) {
  CLI::App& command =
      *app.add_subcommand("run",
                          "measure a sweep; resumes what an earlier run left. Under mpirun -n P, "
                          "P processes are ranks of rings, on GPUs with one each");
  add_sweep_options(command, arguments);
  command.add_option("-o", arguments.folder, "folder of the results; default: results/<sweep name>")
      ->check(not_empty());
  command.add_flag("--fresh", arguments.fresh, "start over instead of resuming");
  command.add_flag("--dry-run", arguments.dry_run, "print the plan, measure nothing");
  command
      .add_option("--profile", arguments.profile,
                  "run this variant once, in this process, for a profiler; nothing is stored")
      ->check(not_empty());
  command.add_option("--dump", arguments.dump, "folder for q, k, v, o and lse of every variant as .npy")
      ->check(not_empty());
  command.callback([&] { action = [&] { return run_command(arguments); }; });
}

void add_plan(CLI::App& app, RunArguments& arguments, Action& action) {
  CLI::App& command = *app.add_subcommand("plan", "print what a sweep would do; nothing runs");
  add_sweep_options(command, arguments);
  command
      .add_flag("--longest", arguments.longest,
                "print instead the longest sequence of each case that fits the device's memory")
      ->excludes("--filter", "--execution-limit");
  command.callback([&] { action = [&] { return plan_command(arguments); }; });
}

void add_report(CLI::App& app, ReportArguments& arguments, Action& action) {
  CLI::App& command = *app.add_subcommand("report", "write report.html, report.md, tables and figures");
  command.add_option("DIR", arguments.folder, "folder of the results: a store, or exported records.jsonl")
      ->required();
  command.add_option("-o", arguments.output, "folder to write to; default: DIR")->check(not_empty());
  command.add_option("--claims", arguments.claims, "claims file; default: those of the seed reports")
      ->check(not_empty());
  command
      .add_option("--charts", arguments.charts,
                  "Chart.js for report.html: its minified file, or none; default: where packages put it")
      ->check(not_empty());
  command.callback([&] { action = [&] { return report_command(arguments); }; });
}

void add_compare(CLI::App& app, CompareArguments& arguments, Action& action) {
  CLI::App& command = *app.add_subcommand("compare", "hold two runs against each other");
  command.add_option("DIR_A", arguments.folder_a, "folder of the results that came before")->required();
  command.add_option("DIR_B", arguments.folder_b, "folder of those that came after")->required();
  command.add_option("--format", arguments.format, "what to print: text (default) or markdown")
      ->check(CLI::IsMember({"text", "markdown"}));
  command.add_option("-o", arguments.output, "folder for compare.html, compare.md and compare.csv")
      ->check(not_empty());
  command
      .add_option("--fail-above", arguments.fail_above_percent,
                  "exit status 1 where a variant takes so many percent longer in B, 3 where that is open")
      ->check(up_to_a_million());
  command.callback([&] { action = [&] { return compare_command(arguments); }; });
}

void add_export(CLI::App& app, ExportArguments& arguments, Action& action) {
  CLI::App& command = *app.add_subcommand("export", "write the records for other tools");
  std::string formats;
  for (const std::string_view format : export_formats())
    formats += fmt::format("{}{}", formats.empty() ? "" : ", ", format);
  command.add_option("DIR", arguments.folder, "folder of the results")->required();
  command.add_option("--format", arguments.format, formats)->required();
  command.add_option("-o", arguments.output, "file to write; default: standard output")->check(not_empty());
  command.callback([&] { action = [&] { return export_command(arguments); }; });
}

void add_predict(CLI::App& app, PredictArguments& arguments, Action& action) {
  CLI::App& command = *app.add_subcommand(
      "predict", "time and memory of rings that were not measured, from records of small ones");
  command
      .add_option("DIR|SWEEP.yaml", arguments.subject,
                  "folder of results that hold rings: their cases at other ring sizes; or a sweep file, with "
                  "--calibration")
      ->required();
  command.add_option("--calibration", arguments.calibration, "folder of results to fit on, for a sweep file");
  command
      .add_option("--fit-ranks", arguments.fit_ranks, "ring sizes to fit on; default: 1,2. Larger ones check")
      ->delimiter(',')
      ->check(decimal());
  command.add_option("--ring", arguments.rings, "ring sizes to predict; default: the sweep's, or 2,4,8,16")
      ->delimiter(',')
      ->check(decimal());
  command.add_option("--axis", arguments.axes, "NAME=V,V: replace a parameter in every case of the sweep")
      ->allow_extra_args(false);
  command.add_option("--filter", arguments.filter,
                     "only variants whose CASE/VARIANT this regular expression finds");
  command.add_option_function<std::string>(
      "--memory",
      [&arguments](const std::string& text) { arguments.memory_bytes = parse_bytes(text, "--memory"); },
      "longest sequence for devices with so much memory (80GB, 8GiB); default: the records' GPU");
  command.add_option("--format", arguments.format, "text, markdown or json; default: text");
  command.callback([&] { action = [&] { return predict_command(arguments); }; });
}

void add_order(CLI::App& app, OrderArguments& arguments, Action& action) {
  CLI::App& command = *app.add_subcommand(
      "order", "print the memory slot of each position; checks and locality on standard error");
  command.add_option("NAME", arguments.name, "an order of `hilbench list orders`, or NAME.PARAM")->required();
  command.add_option("--length", arguments.length, "positions")->required()->check(decimal());
  command.add_option("--chunk", arguments.chunk, "curves: apply inside chunks of so many positions")
      ->check(decimal());
  command.add_option("--residue", arguments.residue, "residue: r; bitrev_residue: r_max")->check(decimal());
  command.add_option("--seed", arguments.seed, "random: seed")->check(decimal());
  command.add_option("--file", arguments.file, "file: .npy with the slot of each position");
  command.add_option("-o", arguments.output, "write an int64 .npy instead");
  command.callback([&] { action = [&] { return order_command(arguments); }; });
}

void add_information(CLI::App& app, std::string& topic, Action& action) {
  CLI::App& list =
      *app.add_subcommand("list", "what this build knows, and why something is unavailable here");
  list.add_option("WHAT", topic,
                  "orders, traversals, kernels, baselines, transports, counters, devices or claims")
      ->required();
  list.callback([&] { action = [&] { return list_command(topic); }; });
  CLI::App& doctor =
      *app.add_subcommand("doctor", "check each optional part: works, or why not and what to do");
  doctor.callback([&] { action = [] { return doctor_command(); }; });
}

// The hidden command of worker processes: `worker TASK_FD EVENT_FD`.
void add_worker(CLI::App& app, std::vector<int>& pipes, Action& action) {
  CLI::App& command = *app.add_subcommand("worker", "")->group("");
  command.add_option("FDS", pipes)->expected(2)->required();
  command.callback([&] { action = [&] { return static_cast<ExitCode>(worker_main(pipes[0], pipes[1])); }; });
}

// Standard error may be closed or a broken pipe: the exit status still tells.
int report_error(const std::string& message, ExitCode code) {
  std::fputs(fmt::format("hilbench: error: {}\n", message).c_str(), stderr);
  return static_cast<int>(code);
}

// A closed descriptor 0, 1 or 2 would be given to the next file opened, and messages would end up in it. What
// is written to a closed standard output must fail: the lowest free descriptor is opened, so it is 1 after 0.
void open_standard_streams() {
  int fd = ::open("/dev/null", O_RDONLY);
  while (fd >= 0 && fd <= STDERR_FILENO) fd = ::open("/dev/null", O_RDONLY);
  if (fd >= 0) ::close(fd);
}

// What is still buffered is written here, where a full disk or a closed pipe can be told.
int finish_output(int status) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  return report_error("cannot write to standard output", ExitCode::environment);
}

}  // namespace

int run_command_line(int argc, char** argv) {
  open_standard_streams();
  ::signal(SIGXFSZ, SIG_IGN);  // a file size limit is an error of the write that meets it
  if (const char* threads = std::getenv("OMP_NUM_THREADS"); threads != nullptr && *threads == '\0')
    ::unsetenv("OMP_NUM_THREADS");  // LLVM's OpenMP ends the program over an empty value
  CLI::App app("hilbench: does the order of memory, or of work, make long-context attention faster?",
               "hilbench");
  app.require_subcommand(1);
  app.set_version_flag("--version", [] { return version_text(); });
  app.footer(
      "Exit status: 0 done, 1 some record failed, 2 bad usage or input, 3 inconclusive, 4 environment, "
      "130 after Ctrl-C.");
  Action action;
  RunArguments run, plan;
  run.command = command_text(argc, argv);
  ReportArguments report;
  CompareArguments compared;
  ExportArguments exported;
  PredictArguments predicted;
  OrderArguments order;
  std::string topic;
  std::vector<int> pipes;
  add_run(app, run, action);
  add_plan(app, plan, action);
  add_report(app, report, action);
  add_compare(app, compared, action);
  add_export(app, exported, action);
  add_predict(app, predicted, action);
  add_order(app, order, action);
  add_information(app, topic, action);
  add_worker(app, pipes, action);
  try {
    app.parse(argc, argv);
    return finish_output(static_cast<int>(action()));
  } catch (const CLI::Success& success) {
    return finish_output(app.exit(success));
  } catch (const CLI::ParseError& error) {
    return report_error(one_line(error.what(), 1000) + "; see hilbench --help", ExitCode::usage);
  } catch (const Error& error) {
    return report_error(error.what(), error.code());
  } catch (const Interrupted&) {
    const int signal = stop_signal();
    report_error("stopped; run the same command again to resume", ExitCode::interrupted);
    return 128 + signal;
  } catch (const std::bad_alloc&) {
    return report_error("out of memory", ExitCode::environment);
  } catch (const std::exception& error) {
    return report_error(one_line(error.what(), 1000), ExitCode::environment);
  }
}

}  // namespace hilbench
