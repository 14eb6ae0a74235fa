// The ranks of a ring, wherever they are: threads of this process, or processes that an MPI launcher started.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/measure/bench.hpp"

namespace hilbench {

class RingRanks {
 public:
  virtual ~RingRanks() = default;
  // Gives the same order (ring_rank.hpp) to all ranks and waits for their answers, by rank. Throws
  // std::runtime_error with the first fault of a rank, whose number it tells; the others wait for it no
  // longer.
  virtual std::vector<nlohmann::json> ask(const nlohmann::json& order) = 0;
  // Whose clock each rank reads: those that are equal compare.
  virtual std::vector<std::string> clocks() const = 0;
  // How the ranks exchange data: {"name": ..., ...}.
  virtual nlohmann::json transport() const = 0;
  virtual std::string timer() const = 0;
  virtual int devices() const { return 1; }    // of this process, over which ranks are spread
  virtual double device_bytes() { return 0; }  // as RankResources's
};

// Ranks as threads. Throws as ask() does where a rank cannot be made ready for `record`.
std::unique_ptr<RingRanks> thread_crew(Bench& bench, const Record& record);

}  // namespace hilbench
