// The ranks of a ring, wherever they are: threads of this process, or processes that an MPI launcher started.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/ring/rank_order.hpp"

namespace hilbench {

class RingRanks {
 public:
  virtual ~RingRanks() = default;
  // Gives the same order to all ranks and waits for their answers, by rank. Throws std::runtime_error with
  // the first fault of a rank, whose number it tells; the others wait for it no longer.
  virtual std::vector<RankAnswer> ask(const RankOrder& order) = 0;
  // Whose clock each rank reads: those that are equal compare.
  virtual std::vector<std::string> clocks() const = 0;
  // How the ranks exchange data: {"name": ..., ...}.
  virtual nlohmann::json transport() const = 0;
  virtual std::string timer() const = 0;
  virtual int devices() const { return 1; }    // of this process, over which ranks are spread
  virtual double device_bytes() { return 0; }  // as RankResources's
};

}  // namespace hilbench
