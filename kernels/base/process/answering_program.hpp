// A child program that answers each line it is given with one line.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/process/child_process.hpp"
#include "kernels/base/process/offspring.hpp"
#include "kernels/base/process/pipe.hpp"

namespace hilbench {

// Runs in `folder` with pipes as its standard streams. It is killed when the thread that started it ends.
class AnsweringProgram {
 public:
  // Messages call the program `name`. `variables` replace variables of the same name in this process's
  // environment; the program gets the file descriptors `inherited` too. Throws EnvironmentError if it cannot
  // be started.
  AnsweringProgram(std::string name, const std::vector<std::string>& command,
                   const std::filesystem::path& folder, std::map<std::string, std::string> variables = {},
                   std::vector<int> inherited = {});
  // end(), waits a second for it to exit, then kills it; and kills what it left behind,
  // in whatever session that is.
  ~AnsweringProgram();
  AnsweringProgram(const AnsweringProgram&) = delete;
  AnsweringProgram& operator=(const AnsweringProgram&) = delete;

  // Closes the program's input, which tells it to exit, and does not wait for that.
  void end() { to_.close_write(); }

  pid_t id() const { return child_->id(); }

  // Called now and then while an answer is awaited, with the time in s that hear() has waited. May throw.
  using Waiting = std::function<void(double seconds)>;
  // Sends `line` and does not wait for the answer. If the program has ended, hear() says so. Throws
  // EnvironmentError if it has closed its input and lives on.
  void send(std::string_view line);
  // Waits for the answer to what was sent, as long as `waiting` lets it. Throws EnvironmentError if the
  // program ends instead (the message says how, and quotes the last line of its standard error), even if a
  // program that it started still holds its output open; or if the answer is longer than one line or 16 MiB.
  std::string hear(const Waiting& waiting = {});
  // Sends `line` and hears the answer.
  std::string ask(std::string_view line, const Waiting& waiting = {});

 private:
  enum class Heard { something, nothing, end };
  Heard listen(int timeout_ms);
  [[noreturn]] void tell_end();
  std::string how_it_ended();

  const Offspring offspring_;  // the last member to be destroyed
  std::string name_;
  Pipe to_, from_, errors_;
  std::optional<ChildProcess> child_;  // always there once the constructor has ended
  std::string heard_;                  // read from its standard output, not yet returned
  std::string complaints_;             // the end of its standard error
};

}  // namespace hilbench
