// External baselines: programs in any language that answer a protocol of JSON lines (README, External
// baselines).
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
#include "harness/sweep/sweep.hpp"
#include "kernels/case/case.hpp"

namespace hilbench {

// A program that cannot compute the case here, and says why: a skip.
class Unsupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// One external baseline made ready for one case. Every function throws Unsupported where the program answers
// so, and EnvironmentError where it dies, reports an error or breaks the protocol.
class ExternalProgram {
 public:
  // Starts the program of baseline `kernel` (NAME or NAME.OPTION) and hands it case and inputs. `gpus`: UUIDs
  // of the only GPUs that it is to see; none: it sees what this process does.
  ExternalProgram(const std::string& kernel, const External& external, const Case& work, int threads,
                  const InputTensors& inputs, const std::vector<std::string>& gpus);

  // Duration of each of so many executions, by the program's own clock.
  std::vector<double> run(std::int64_t executions);
  // The output of the last execution, in memory of its own.
  OutputReader output();

  const std::string& timer() const { return timer_; }               // "external:cuda_events"
  const nlohmann::json& description() const { return described_; }  // name, version and what else it tells

 private:
  // Asks who the program is, and whether it runs the case here; then hands it the case and its inputs.
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
