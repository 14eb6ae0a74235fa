// A program that answers line by line: one line in, one line out.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "harness/process/pipe.hpp"

namespace hilbench {

// Started in `folder` with pipes for its standard streams; dies with the thread that started it.
class ChildProcess {
 public:
  // `name` is what messages call it, `variables` come before this process's own environment. Throws
  // EnvironmentError where the program cannot be started.
  ChildProcess(std::string name, const std::vector<std::string>& command, const std::filesystem::path& folder,
               const std::map<std::string, std::string>& variables = {});
  // Closes the program's input, gives it a moment to leave, then kills it.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Sends `line` and waits for the answer, as long as it takes. Throws EnvironmentError where the program
  // ends instead (how, and the last line of its standard error), even if what it started keeps its output
  // open; or where it answers with more than one line or 16 MiB.
  std::string ask(std::string_view line);

 private:
  enum class Heard { something, nothing, end };
  Heard listen(int timeout_ms);
  [[noreturn]] void tell_end();
  std::string how_it_ended();
  bool reap(int timeout_ms);

  std::string name_;
  Pipe to_, from_, errors_;
  pid_t pid_ = -1;
  int status_ = 0;
  std::string heard_;       // of its standard output, not yet used
  std::string complaints_;  // the last of its standard error
};

}  // namespace hilbench
