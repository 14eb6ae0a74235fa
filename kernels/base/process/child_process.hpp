// A program that runs beside this one: the one way in which any is started.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernels/base/text/error.hpp"

namespace hilbench {

struct ChildCommand {
  std::vector<std::string> words;                     // the program, looked up in PATH, and its arguments
  std::string name = {};                              // in lists of processes; empty: the program
  std::filesystem::path folder = {};                  // empty: this process's own
  std::map<std::string, std::string> variables = {};  // beside or instead of this process's own
  std::array<int, 3> streams = {0, 1, 2};             // its standard streams; -1: /dev/null
  std::vector<int> inherited = {};                    // further file descriptors that it gets
  bool own_group = false;                             // Ctrl-C does not reach it, and its group ends with it
  const sigset_t* held_signals = nullptr;             // nullptr: those of this thread
};

// The program cannot be started. `error`: the errno value.
class CannotStart : public EnvironmentError {
 public:
  CannotStart(const Problem& problem, int errno_value) : EnvironmentError(problem), error(errno_value) {}
  const int error;
};

// It is killed when the thread that started it ends.
class ChildProcess {
 public:
  // Throws CannotStart.
  explicit ChildProcess(const ChildCommand& command);
  // Kills it, if it still runs, and waits for its end.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Waits for its end, at most `timeout_ms`, without limit if that is negative. Gives its status, as
  // waitpid() does; nothing if it still runs. Throws EnvironmentError if the system has lost it.
  std::optional<int> wait(int timeout_ms);
  void kill();  // does not wait
  pid_t id() const { return id_; }

 private:
  bool ends(int timeout_ms) const;

  pid_t id_ = -1;
  bool own_group_;
  std::optional<int> status_;
};

}  // namespace hilbench
