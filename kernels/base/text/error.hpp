// Errors that end a case or the run. Their message is one line: `WHAT (WHERE): WHY; TRY`.
#pragma once

#include <stdexcept>
#include <string>

namespace hilbench {

enum class ExitCode : int {
  done = 0,
  failed = 1,  // a record failed, or a comparison shows a regression
  usage = 2,   // wrong usage or wrong input
  inconclusive = 3,
  environment = 4,    // the device, a permission or the store failed
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

// Wrong usage or wrong input: exit status 2.
class UsageError : public Error {
 public:
  explicit UsageError(const Problem& problem) : Error(ExitCode::usage, problem) {}
};

// The machine, a permission or the store failed: exit status 4.
class EnvironmentError : public Error {
 public:
  explicit EnvironmentError(const Problem& problem) : Error(ExitCode::environment, problem) {}
};

// True if errno value `error` means a permission, space or disk problem rather than a wrong path.
bool is_of_the_machine(int error);
// True if the file system of `file`, which need not exist, has place for bytes perhaps, but for no further
// file.
bool no_inodes_at(const std::string& file);
// Throws what errno value `error` of a file or folder means: EnvironmentError for a permission, space or disk
// problem, UsageError if another path would work. An empty problem.why becomes the system's message.
[[noreturn]] void throw_file_error(int error, Problem problem);
// What to do if no process or thread can be started (EAGAIN).
inline constexpr const char* kMoreProcesses =
    "raise the limit on processes and threads (ulimit -u; pids.max of the cgroup)";
// Throws EnvironmentError with the message of errno.
[[noreturn]] void throw_errno(std::string what);

}  // namespace hilbench
