// The ranks of a ring: threads of this process, or processes that an MPI launcher started.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harness/ring/rank_command.hpp"

namespace hilbench {

class RingRanks {
 public:
  virtual ~RingRanks() = default;
  // Gives the same command to all ranks and waits for their answers; returns them by rank. If a rank fails,
  // the others stop waiting for it, and this throws std::runtime_error with the first failure and the number
  // of its rank.
  virtual std::vector<RankAnswer> ask(const RankCommand& command) = 0;
  // The clock of each rank. Times of clocks with the same name can be compared.
  virtual std::vector<std::string> clocks() const = 0;
  // How the ranks exchange data: {"name": ..., ...}.
  virtual nlohmann::json transport() const = 0;
  virtual std::string timer() const = 0;
  virtual int devices() const { return 1; }    // number of devices that the ranks use
  virtual double device_bytes() { return 0; }  // see RankResources
};

}  // namespace hilbench
