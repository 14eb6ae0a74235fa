#include "harness/command_line/command_line.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "harness/run/environment.hpp"
#include "harness/run/stop_signal.hpp"
#include "kernels/base/text/text.hpp"

// Every command, in the order of --help. NAME.cpp defines add_NAME.
#define HILBENCH_COMMANDS(line)                                                                            \
  line(run) line(plan) line(init) line(show) line(report) line(site) line(compare) line(agree) line(check) \
      line(join) line(export) line(predict) line(sectors) line(order) line(list) line(doctor) line(gate)   \
          line(costs) line(worker) line(kernel_host) line(describe_build) line(count_executions)           \
              line(describe_commands)

namespace hilbench {

#define HILBENCH_DECLARE(name) void add_##name(Commands& commands);
HILBENCH_COMMANDS(HILBENCH_DECLARE)

Commands::Commands(CLI::App& app, std::string as_typed) : app_(app), as_typed_(std::move(as_typed)) {}

Options Commands::add(const std::string& name, const std::string& help, const Action& action) {
  CLI::App& command = *app_.add_subcommand(name, help);
  if (help.empty()) command.group("");
  command.callback([this, action] { chosen_ = action; });
  return Options(command);
}

namespace {

void add_all(Commands& commands) {
#define HILBENCH_ADD(name) add_##name(commands);
  HILBENCH_COMMANDS(HILBENCH_ADD)
}

std::string text_of(int argc, char** argv) {
  std::string text = "hilbench";
  for (int i = 1; i < argc; ++i) text += " " + shell_quoted(argv[i]);
  return text;
}

// Writing may fail (standard error closed, or a broken pipe); the exit status still reports the error.
int report_error(const std::string& message, ExitCode code) {
  std::fputs(fmt::format("hilbench: error: {}\n", message).c_str(), stderr);
  return static_cast<int>(code);
}

// If descriptor 0, 1 or 2 is closed, the next file opened would get its number, and messages would be
// written into that file. Opens /dev/null for reading in their place, so that writing to a closed
// standard output fails.
void open_standard_streams() {
  int fd = ::open("/dev/null", O_RDONLY);
  while (fd >= 0 && fd <= STDERR_FILENO) fd = ::open("/dev/null", O_RDONLY);
  if (fd >= 0) ::close(fd);
}

// What Google Benchmark takes from the environment: it would write files, or measure otherwise than the sweep
// says.
constexpr std::array kBenchmarkVariables = {
    "BENCHMARK_OUT",        "BENCHMARK_OUT_FORMAT",
    "BENCHMARK_FORMAT",     "BENCHMARK_FILTER",
    "BENCHMARK_LIST_TESTS", "BENCHMARK_REPETITIONS",
    "BENCHMARK_MIN_TIME",   "BENCHMARK_MIN_WARMUP_TIME",
    "BENCHMARK_DRY_RUN",    "BENCHMARK_PERF_COUNTERS",
    "BENCHMARK_CONTEXT",    "BENCHMARK_ENABLE_RANDOM_INTERLEAVING",
    "BENCHMARK_TIME_UNIT",  "BENCHMARK_COLOR",
    "BENCHMARK_V",          "BENCHMARK_REPORT_AGGREGATES_ONLY",
};

// Google Benchmark has read its variables before main() begins, and under a launcher this process measures
// itself: it starts again without them.
void leave_benchmark_variables(char** argv) {
  bool set = false;
  for (const char* name : kBenchmarkVariables) {
    set = set || std::getenv(name) != nullptr;
    ::unsetenv(name);
  }
  if (set) ::execv("/proc/self/exe", argv);  // if it cannot, workers at least are without them
}

void prepare_process(char** argv) {
  open_standard_streams();
  ::signal(SIGCHLD, SIG_DFL);  // if the parent ignores it, so would this process, and lose its children
  ::signal(SIGXFSZ, SIG_IGN);  // a write beyond the file size limit returns an error instead
  leave_benchmark_variables(argv);
  if (const char* threads = std::getenv("OMP_NUM_THREADS"); threads != nullptr && *threads == '\0')
    ::unsetenv("OMP_NUM_THREADS");  // LLVM's OpenMP ends the program if the value is empty
}

// Writes what is still buffered, so that a full disk or a closed pipe is reported.
int finish_output(int status) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  return report_error("cannot write to standard output", ExitCode::environment);
}

// The name that `word` begins, or else is most like; "" if there is none. Dashes in front do not count.
std::string meant_name(const std::string& word, const std::vector<std::string>& names) {
  const auto bare = [](const std::string& name) {
    return name.substr(std::min(name.find_first_not_of('-'), name.size()));
  };
  for (const std::string& name : names)
    if (!bare(word).empty() && bare(name).starts_with(bare(word))) return name;
  return nearest_name(word, names);
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!command->get_group().empty()) names.push_back(command->get_name());  // hidden ones have no group
  return names;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

// What is wrong with a command line that CLI11 refused with `message`. Unknown words come first.
std::string refusal(const CLI::App& app, const std::string& message) {
  const std::vector<CLI::App*> typed = app.get_subcommands();
  const CLI::App& last = typed.empty() ? app : *typed.front();
  const CLI::App& at = app.remaining().empty() ? last : app;  // where the first unknown word is
  const std::string name = &at == &app ? "hilbench" : "hilbench " + at.get_name();
  const std::string help = fmt::format("see {} --help", name);
  if (at.remaining().empty()) return fmt::format("{}; {}", one_line(message, 1000), help);
  const std::string word = at.remaining().front().substr(0, at.remaining().front().find('='));
  const bool is_option = word.starts_with('-');
  if (!is_option && &at != &app)
    return fmt::format("{} takes no argument '{}'; {}", name, one_line(word, 80), help);
  const std::string meant = meant_name(word, is_option ? option_names(at) : command_names(app));
  return fmt::format("unknown {} '{}'; {}", is_option ? "option" : "command", one_line(word, 80),
                     meant.empty() ? help : fmt::format("did you mean '{}'?", meant));
}

// CLI11 says "-o: 1 required TEXT missing".
std::string mismatch_text(const std::string& message) {
  const bool missing = message.ends_with(" missing");
  return missing ? fmt::format("{} needs a value", message.substr(0, message.find(':'))) : message;
}

// Reports the exception that ended the command. To be called in a catch block.
int report_caught(const CLI::App& app) {
  try {
    throw;
  } catch (const CLI::ArgumentMismatch& error) {
    return report_error(refusal(app, mismatch_text(error.what())), ExitCode::usage);
  } catch (const CLI::ParseError& error) {
    return report_error(refusal(app, error.what()), ExitCode::usage);
  } catch (const Error& error) {
    if (error.code() != ExitCode::interrupted) return report_error(error.what(), error.code());
    fmt::print(stderr, "hilbench: {}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const Interrupted&) {
    const int signal = stop_signal();
    const bool resumes = app.got_subcommand("run");
    fmt::print(stderr, "hilbench: stopped{}\n", resumes ? "; run the same command again to resume" : "");
    return 128 + signal;
  } catch (const std::filesystem::filesystem_error& error) {
    const bool of_the_machine = is_of_the_machine(error.code().value());
    return report_error(fmt::format("the file or folder cannot be used ({}): {}",
                                    one_line(error.path1().string()), error.code().message()),
                        of_the_machine ? ExitCode::environment : ExitCode::usage);
  } catch (const std::system_error& error) {
    const bool threads = error.code() == std::errc::resource_unavailable_try_again;
    return report_error(
        threads ? fmt::format("cannot start a thread: {}; {}", error.code().message(), kMoreProcesses)
                : one_line(error.what(), 1000),
        ExitCode::environment);
  } catch (const std::bad_alloc&) {
    return report_error("out of memory", ExitCode::environment);
  } catch (const std::exception& error) {
    return report_error(one_line(error.what(), 1000), ExitCode::environment);
  }
}

}  // namespace

int run_command_line(int argc, char** argv) {
  prepare_process(argv);
  CLI::App app("hilbench: does the order of memory, or of work, make long-context attention faster?",
               "hilbench");
  app.require_subcommand(1);
  app.set_version_flag("--version", [] { return version_details(); });
  app.footer(
      "Examples:\n"
      "  hilbench init                    write a first sweep for this machine\n"
      "  hilbench run quick               measure a sweep that the program holds\n"
      "  hilbench show results/quick      its results on the terminal\n"
      "  hilbench report results/quick    the same as a page with figures\n"
      "  hilbench COMMAND --help          options and examples of a command\n"
      "\n"
      "Exit status: 0 done; 1 a record failed, `run --require-measured` measured nothing, `gate` or "
      "`compare` found a slower variant, `costs` one that grew, `check` a fault, or `order` no bijection; "
      "2 wrong usage or input; 3 inconclusive; 4 a problem of this machine; 130 after Ctrl-C.");
  Commands commands(app, text_of(argc, argv));
  add_all(commands);
  try {
    app.parse(argc, argv);
    return finish_output(static_cast<int>(commands.run_chosen()));
  } catch (const CLI::Success& success) {
    return finish_output(app.exit(success));
  } catch (...) {
    return report_caught(app);
  }
}

}  // namespace hilbench
