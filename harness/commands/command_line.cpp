#include "harness/commands/command_line.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <utility>

#include "harness/run/environment.hpp"
#include "harness/run/stop_signal.hpp"
#include "kernels/base/text.hpp"

// Every command, in the order of --help: add_NAME is in NAME.cpp.
#define HILBENCH_COMMANDS(line)                                                                     \
  line(run) line(plan) line(report) line(compare) line(export) line(predict) line(order) line(list) \
      line(doctor) line(worker)

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

void prepare_process() {
  open_standard_streams();
  ::signal(SIGXFSZ, SIG_IGN);  // a file size limit is an error of the write that meets it
  if (const char* threads = std::getenv("OMP_NUM_THREADS"); threads != nullptr && *threads == '\0')
    ::unsetenv("OMP_NUM_THREADS");  // LLVM's OpenMP ends the program over an empty value
}

// What is still buffered is written here, where a full disk or a closed pipe can be told.
int finish_output(int status) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  return report_error("cannot write to standard output", ExitCode::environment);
}

// Says what ended the command. To be called while it is caught.
int report_caught() {
  try {
    throw;
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

}  // namespace

int run_command_line(int argc, char** argv) {
  prepare_process();
  CLI::App app("hilbench: does the order of memory, or of work, make long-context attention faster?",
               "hilbench");
  app.require_subcommand(1);
  app.set_version_flag("--version", [] { return version_text(); });
  app.footer(
      "Exit status: 0 done, 1 some record failed, 2 bad usage or input, 3 inconclusive, 4 environment, "
      "130 after Ctrl-C.");
  Commands commands(app, text_of(argc, argv));
  add_all(commands);
  try {
    app.parse(argc, argv);
    return finish_output(static_cast<int>(commands.run_chosen()));
  } catch (const CLI::Success& success) {
    return finish_output(app.exit(success));
  } catch (...) {
    return report_caught();
  }
}

}  // namespace hilbench
