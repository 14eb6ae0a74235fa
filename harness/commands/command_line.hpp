// The command line. A command is a file of this folder and its line in command_line.cpp.
#pragma once

#include <functional>
#include <string>

#include "harness/commands/options.hpp"
#include "kernels/base/error.hpp"

namespace hilbench {

// Results of a command go to standard output, the rest to standard error.
using Action = std::function<ExitCode()>;

class Commands {
 public:
  // `as_typed`: the whole command line, as text.
  Commands(CLI::App& app, std::string as_typed);

  // Adds a command; `action` runs when it is the one that was typed. With an empty `help` it is in no list.
  Options add(const std::string& name, const std::string& help, const Action& action);

  const std::string& as_typed() const { return as_typed_; }
  ExitCode run_chosen() const { return chosen_(); }

 private:
  CLI::App& app_;
  std::string as_typed_;
  Action chosen_;
};

// Parses and runs; prints errors as `hilbench: error: ...` on standard error. Returns the exit status.
int run_command_line(int argc, char** argv);

}  // namespace hilbench
