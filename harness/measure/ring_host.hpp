// Where the ranks of a comparison's rings run.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "reports/records/record.hpp"

namespace hilbench {

class Bench;
class RingRanks;

// As threads of this process, or as the processes that an MPI launcher started.
class RingHost {
 public:
  virtual ~RingHost() = default;
  // Throws as RingRanks::ask() if a rank cannot be made ready for `record`.
  virtual std::unique_ptr<RingRanks> ranks(Bench& bench, const Record& record) = 0;
  // True if each rank is a process with a device and caches of its own.
  virtual bool spans_processes() const = 0;
  // Of the GPUs of the other processes, while there are rings of them. Throw as RingRanks::ask().
  virtual void observe() = 0;
  virtual std::vector<nlohmann::json> device_states() = 0;
  // The device of this process is lost: no rank can go on.
  virtual void device_lost() = 0;
};

}  // namespace hilbench
