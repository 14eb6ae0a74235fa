// The command line. Each command is a file of this folder and a line in command_line.cpp.
#pragma once

#include <functional>
#include <string>

#include "harness/command_line/options.hpp"
#include "kernels/base/text/error.hpp"

namespace hilbench {

// Runs a command: prints its results to standard output and everything else to standard error.
using Action = std::function<ExitCode()>;

class Commands {
 public:
  // `as_typed`: the whole command line, as text that a shell reads back.
  Commands(CLI::App& app, std::string as_typed);

  // Adds a command. `action` runs if the user typed this command. A command with an empty `help` is hidden.
  Options add(const std::string& name, const std::string& help, const Action& action);

  const std::string& as_typed() const { return as_typed_; }
  const CLI::App& app() const { return app_; }
  ExitCode run_chosen() const { return chosen_(); }

 private:
  CLI::App& app_;
  std::string as_typed_;
  Action chosen_;
};

// Parses the command line and runs the command. Prints errors as `hilbench: error: ...` to standard error.
// Returns the exit status.
int run_command_line(int argc, char** argv);

}  // namespace hilbench
