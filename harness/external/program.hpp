// External baselines: programs in any language that answer a protocol of JSON lines (docs/external.md).
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/measure/inputs.hpp"
#include "harness/measure/verify.hpp"
#include "harness/process/child_process.hpp"
#include "harness/sweep/settings.hpp"
#include "kernels/case/case.hpp"

namespace hilbench {

// Thrown if the program cannot compute the case here. The variant is skipped with this reason.
class Unsupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// One external baseline, prepared for one case. Every function throws Unsupported if the program answers
// `unsupported`, and EnvironmentError if it dies, reports an error or breaks the protocol.
class ExternalProgram {
 public:
  // Starts the program of baseline `kernel` (NAME or NAME.OPTION) and gives it the case and the inputs.
  // `gpus` holds the UUIDs of the GPUs that it may see; if empty, it sees the same GPUs as this process.
  ExternalProgram(const std::string& kernel, const External& external, const Case& work, int threads,
                  const InputTensors& inputs, const std::vector<std::string>& gpus);

  // Returns the duration of each of `executions` in nanoseconds, by the program's own clock.
  std::vector<double> run(std::int64_t executions);
  // Reads the output of the last execution. The result stays valid after further executions.
  OutputReader output();

  const std::string& timer() const { return timer_; }  // "external:cuda_events"
  // Name, version, and further keys of its answers.
  const nlohmann::json& description() const { return described_; }

 private:
  // greet() checks that the program can run the case here; load() gives it the case and its inputs.
  void greet(const std::string& kernel, const Case& work);
  void load(const std::string& kernel, const Case& work, int threads, const InputTensors& inputs);
  void pause() const;
  nlohmann::json ask(const nlohmann::json& request);

  std::string name_;
  std::int64_t output_rows_, head_dim_;
  bool on_cpu_;
  std::unique_ptr<ChildProcess> process_;
  std::string timer_;
  nlohmann::json described_;
};

}  // namespace hilbench
