// Errors that end a case or the run, in the one-line form `WHAT (WHERE): WHY; TRY`.
#pragma once

#include <stdexcept>
#include <string>

namespace hilbench {

enum class ExitCode : int {
  done = 0,
  failed = 1,  // some record failed, or a regression
  usage = 2,   // bad usage or input
  inconclusive = 3,
  environment = 4,    // device, permission, store lost while running
  interrupted = 130,  // Ctrl-C
};

struct Problem {
  std::string what;    // "unknown key 'sequnce_length'"
  std::string where;   // "quick.yaml:7, axes.sequnce_length"; may be empty
  std::string why;     // may be empty
  std::string remedy;  // "did you mean 'sequence_length'?"; may be empty
};

class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const Problem& problem);
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

// Bad usage or input: exit status 2.
class UsageError : public Error {
 public:
  explicit UsageError(const Problem& problem) : Error(ExitCode::usage, problem) {}
};

// The machine, a permission or the store failed: exit status 4.
class EnvironmentError : public Error {
 public:
  explicit EnvironmentError(const Problem& problem) : Error(ExitCode::environment, problem) {}
};

// Whether an errno tells of permission, room or the disk, and not of a name.
bool is_of_the_machine(int error);
// What the system refused of a file or folder, `error` an errno: EnvironmentError where it is permission,
// room or the disk, UsageError where another name would do. problem.why becomes the system's own words where
// it is empty.
[[noreturn]] void throw_file_error(int error, Problem problem);

}  // namespace hilbench
