// The programs of a comparison's external baselines. They start at the same time and are loaded in turn.
#pragma once

#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/external/input_files.hpp"
#include "harness/external/program.hpp"
#include "harness/measure/comparison_task.hpp"

namespace hilbench {

class ComparisonPrograms {
 public:
  // Starts no program. `task` must outlive it.
  explicit ComparisonPrograms(const ComparisonTask& task) : task_(task) {}
  // The inputs of the case, and how many tiles the device computes at once. Nothing is loaded before.
  void set_inputs(InputFileSets::Tensors tensors, InputFileSets::Forward forward, std::int64_t at_once = 1);

  // True if `record` is an external baseline of the task, or a kernel that is a program of its own. The
  // functions below want such records.
  bool has(const Record& record) const;
  // Starts the programs of all records of the task. Does not wait for them: what goes wrong with a program is
  // thrown when it is greeted.
  void start_all();
  // Waits until the program, started here if it is not yet, has answered `hello`. Throws like
  // ExternalProgram::greet(), and the program ends then.
  void greet(const Record& record);
  // Loads the program, greeted here if it is not yet, with the second inputs, and gives it away. Throws like
  // ExternalProgram::load(), and the program ends then.
  std::unique_ptr<ExternalProgram> load(const Record& record);
  // The inputs as files, which all programs share.
  InputFileSets& files() { return *files_; }

 private:
  struct Started {
    std::unique_ptr<ExternalProgram> program;
    std::exception_ptr fault;  // why there is no program
  };
  Started start(const Record& record);
  std::unique_ptr<ExternalProgram> greeted(const Record& record);
  const std::vector<std::string>& gpus();

  const ComparisonTask& task_;
  std::optional<std::vector<std::string>> gpus_;  // UUIDs of those that each program may see
  std::optional<InputFileSets> files_;
  std::int64_t at_once_ = 1;
  std::map<std::string, Started> started_;  // by the variant's id
};

}  // namespace hilbench
