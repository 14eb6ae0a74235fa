// Runs the ranks of a comparison's rings.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "reports/records/record.hpp"

namespace hilbench {

class Bench;
class Ring;
class RingRanks;

// Ranks are threads of this process, or the processes that an MPI launcher started.
class RingHost {
 public:
  virtual ~RingHost() = default;
  // Makes `ring`, the ring of `record`. Throws like RingRanks::ask() if a rank cannot be prepared.
  virtual std::unique_ptr<RingRanks> ranks(Bench& bench, const Record& record, const Ring& ring) = 0;
  // True if each rank is a process with a device and caches of its own.
  virtual bool spans_processes() const = 0;
  // The same as Device::observe() and Device::state(), for the GPUs of the other processes. They do nothing
  // unless there are rings of GPUs. They throw like RingRanks::ask().
  virtual void observe() = 0;
  virtual std::vector<nlohmann::json> device_states() = 0;
  // Tells the other ranks that the device of this process is lost, so no rank can go on.
  virtual void device_lost() = 0;
};

}  // namespace hilbench
