// Ranks of a ring as the processes of a run: what each of them does.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "harness/launched/processes.hpp"
#include "harness/ring/rank.hpp"
#include "harness/ring/rank_resources.hpp"

namespace hilbench {

// One process's part in the rings of a comparison, which share a transport and of which one runs at a time.
class HostedRanks {
 public:
  // All processes at once, those that are beyond the ring too. `bench` is of the comparison, `records` are
  // its variants, `fault` says why there is no bench. Throws TransportError.
  HostedRanks(LaunchedProcesses& processes, const Case& work, Bench* bench,
              const std::vector<Record>& records, std::string fault = "");
  ~HostedRanks();
  // Its answer, or why it has none. Where the fault came while data moved the processes are broken.
  ProcessAnswer obey(const ProcessOrder& order) noexcept;

 private:
  ProcessAnswer answer(const ProcessOrder& order);
  ProcessAnswer make(const ProcessOrder& order);
  bool all_have_benches();
  std::unique_ptr<RankResources> joined_resources(const Record& record);

  LaunchedProcesses& processes_;
  const bool on_gpus_;
  Bench* bench_;
  const std::vector<Record>& records_;
  const std::string fault_;
  struct Member {
    std::unique_ptr<RankResources> resources;
    std::unique_ptr<RingRank> rank;
  };
  std::shared_ptr<Transport> transport_;  // on the hosts; null beyond the ring
  std::map<int, Member> ranks_;
};

}  // namespace hilbench
