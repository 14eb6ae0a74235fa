// Rings whose ranks are the processes of a run, as rank 0 leads them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness/launched/hosted_ranks.hpp"
#include "harness/launched/processes.hpp"
#include "harness/measure/bench.hpp"
#include "harness/ring/ranks.hpp"

namespace hilbench {

// Rank 0's: makes the rings of a comparison, from the first to the end of this.
class LaunchedRings final : public RingHost {
 public:
  LaunchedRings(LaunchedProcesses& processes, const ComparisonTask& task)
      : processes_(processes), task_(task) {}
  ~LaunchedRings() override;
  // Those that the plan wants in one process are threads of this one.
  std::unique_ptr<RingRanks> ranks(Bench& bench, const Record& record) override;
  bool spans_processes() const override { return true; }
  void observe() override;
  std::vector<nlohmann::json> device_states() override;
  void device_lost() override;

  // Answers of all ranks of a ring. Throws std::runtime_error.
  std::vector<ProcessAnswer> ask(const ProcessOrder& order);
  LaunchedProcesses& processes() { return processes_; }

 private:
  bool has_rings_of_gpus() const;

  LaunchedProcesses& processes_;
  const ComparisonTask& task_;
  std::unique_ptr<HostedRanks> own_;
  int made_ = 0;
};

}  // namespace hilbench
