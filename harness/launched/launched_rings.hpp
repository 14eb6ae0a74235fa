// Rings whose ranks are the processes of a launched run, led by rank 0.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/launched/hosted_ranks.hpp"
#include "harness/launched/processes.hpp"
#include "harness/measure/bench.hpp"
#include "harness/ring/ranks.hpp"

namespace hilbench {

// Makes and leads the rings of one comparison. Only rank 0 calls its functions. On destruction, the other
// processes drop the comparison.
class LaunchedRings final : public RingHost {
 public:
  LaunchedRings(LaunchedProcesses& processes, const ComparisonTask& task)
      : processes_(processes), task_(task) {}
  ~LaunchedRings() override;
  // If the plan wants a ring in one process, its ranks are threads of this one.
  std::unique_ptr<RingRanks> ranks(Bench& bench, const Record& record, const Ring& ring) override;
  bool spans_processes() const override { return true; }
  void observe() override;
  std::vector<nlohmann::json> device_states() override;
  void device_lost() override;

  // Gives a command to all ranks of a ring and returns their answers. Throws std::runtime_error if one fails.
  std::vector<ProcessAnswer> ask(const ProcessCommand& command);
  LaunchedProcesses& processes() { return processes_; }

 private:
  bool has_rings_of_gpus() const;

  LaunchedProcesses& processes_;
  const ComparisonTask& task_;
  std::unique_ptr<HostedRanks> own_;
  int made_ = 0;
};

}  // namespace hilbench
