// What one process does for the rings of a launched run.
#pragma once

#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include "harness/launched/processes.hpp"
#include "harness/ring/rank.hpp"
#include "harness/ring/rank_resources.hpp"

namespace hilbench {

// The ranks of a comparison's rings that this process hosts. The rings share one transport; one of them runs
// at a time.
class HostedRanks {
 public:
  // All processes must call this at the same time, even those that have no rank in the ring. `records` are
  // the variants of the comparison. `bench` may be null; then `fault` says why there is none. Throws
  // TransportError.
  HostedRanks(LaunchedProcesses& processes, const Case& work, Bench* bench,
              const std::vector<Record>& records, std::string fault = "");
  ~HostedRanks();
  // Returns the answer, or the reason why there is none. If it failed while data moved, the processes are
  // broken.
  ProcessAnswer obey(const ProcessCommand& command) noexcept;

 private:
  ProcessAnswer answer(const MakeRing& make);
  ProcessAnswer answer(const AskRing& ask);
  ProcessAnswer answer(const TellDeviceBytes& tell);
  ProcessAnswer answer(const DropRing& drop);
  ProcessAnswer answer(const ObserveDevice&);
  ProcessAnswer answer(const TellDeviceState&);
  // Those that concern the process.
  template <class Other>
  ProcessAnswer answer(const Other&) {
    throw std::logic_error("a command that no ring knows");
  }
  bool leads() const { return transport_->rank() == 0; }  // rank 0's own bench observes its device
  bool all_have_benches();
  std::unique_ptr<RankResources> joined_resources(const Ring& ring);

  LaunchedProcesses& processes_;
  const bool on_gpus_;
  Bench* bench_;
  const std::vector<Record>& records_;
  const std::string fault_;
  struct Member {
    std::unique_ptr<RankResources> resources;
    std::unique_ptr<RingRank> rank;
  };
  std::shared_ptr<Transport> transport_;  // between the hosts; null if this process has no rank
  std::map<int, Member> ranks_;
};

}  // namespace hilbench
