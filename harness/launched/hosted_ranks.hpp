// Ranks of a ring as the processes of a run: what each of them does, and how rank 0 leads them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "harness/launched/processes.hpp"
#include "harness/ring/rank.hpp"
#include "harness/ring/ranks.hpp"

namespace hilbench {

// One process's part in the rings of a comparison, which share a transport and of which one runs at a time.
// Orders, beside those that a RingRank knows, each with the `ring` that is meant:
//   {"do": "make", "variant": id}   {"clock": which one it reads, "timer": ..., "host": ...}
//   {"do": "device bytes"}          {"bytes": RankResources's}
//   {"do": "drop"}                  {}
// and without one, of the GPUs of ranks above 0:
//   {"do": "observe"}               {}
//   {"do": "state"}                 {"state": Device::state(), null of rank 0}
class HostedRanks {
 public:
  // All processes at once, those that are beyond the ring too. `bench` is of the comparison, `records` are
  // its variants, `fault` says why there is no bench. Throws TransportError.
  HostedRanks(LaunchedProcesses& processes, const Case& work, Bench* bench,
              const std::vector<Record>& records, std::string fault = "");
  ~HostedRanks();
  // Its answer, or {"error": why}. Where the fault came while data moved the processes are broken.
  nlohmann::json obey(const nlohmann::json& order) noexcept;

 private:
  nlohmann::json answer(const nlohmann::json& order);
  nlohmann::json make(const nlohmann::json& order);
  bool all_have_benches();
  std::unique_ptr<RankResources> joined_bed(const Record& record);

  LaunchedProcesses& processes_;
  const bool on_gpus_;
  Bench* bench_;
  const std::vector<Record>& records_;
  const std::string fault_;
  struct Member {
    std::unique_ptr<RankResources> bed;
    std::unique_ptr<RingRank> rank;
  };
  std::shared_ptr<Transport> transport_;  // on the hosts; null beyond the ring
  std::map<int, Member> ranks_;
};

// Rank 0's: makes the rings of a comparison, from the first to the end of this.
class LaunchedRings {
 public:
  LaunchedRings(LaunchedProcesses& processes, const ComparisonTask& task)
      : processes_(processes), task_(task) {}
  ~LaunchedRings();
  // Throws as ask() does.
  std::unique_ptr<RingRanks> crew(Bench& bench, const Record& record);

  // Answers of all ranks of a ring. Throws std::runtime_error.
  std::vector<nlohmann::json> ask(const nlohmann::json& order);
  // Of the GPUs of the other ranks, while there are rings of them. Throw as ask() does.
  void observe();
  std::vector<nlohmann::json> device_states();
  LaunchedProcesses& processes() { return processes_; }

 private:
  bool has_rings_of_gpus() const;

  LaunchedProcesses& processes_;
  const ComparisonTask& task_;
  std::unique_ptr<HostedRanks> own_;
  int made_ = 0;
};

}  // namespace hilbench
