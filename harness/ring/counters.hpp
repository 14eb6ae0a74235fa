// Counters of a ring. All ranks count the same executions; each counts its own work, or the work of its GPU.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/counters/counters.hpp"
#include "harness/ring/rank_command.hpp"
#include "kernels/ring/transport/transport.hpp"

namespace hilbench {

// The part of one rank.
class RankCounters {
 public:
  // Opens the counter set of this name on the device of the calling thread. Never returns null.
  using Open = std::function<std::unique_ptr<CounterBackend>(const std::string& set)>;

  // `open` is empty if another rank counts the work of this one. The rank's own thread calls `open` and
  // the others.
  explicit RankCounters(Open open) : open_(std::move(open)) {}

  RankAnswer open(const std::string& set);
  // Calls `restore`, which sets the state of the caches, and `body`, which is one complete
  // execution. No rank works while another starts or stops its counters. Throws what they throw, and
  // TransportError if another rank failed; after that this rank counts no longer.
  RankAnswer pass(int pass, Transport& transport, const std::function<void()>& restore,
                  const std::function<void()>& body);
  RankAnswer close();

 private:
  const Open open_;
  std::unique_ptr<CounterBackend> backend_;
};

// The part of the leader. `ask` gives a command to all ranks and returns their answers by rank. `cold`: each
// rank evicts its caches before a pass. Calls `restore` before each pass, and makes as many passes as the
// rank that needs most. If one rank cannot count, its events are absent for the whole ring, with the reason.
// Throws what `ask` and `restore` throw.
std::map<std::string, Counter> count_ring(
    const CounterSet& set, bool cold, const std::function<std::vector<RankAnswer>(const RankCommand&)>& ask,
    const std::function<void()>& restore);

}  // namespace hilbench
