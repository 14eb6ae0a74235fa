// Counters of a ring: all ranks count the same executions, each what it does itself, or what its GPU does.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/counters/counters.hpp"
#include "harness/ring/rank_order.hpp"
#include "kernels/ring/transport/transport.hpp"

namespace hilbench {

// A rank's part. It answers the orders open_counters, count_pass and close_counters, which all ranks get at
// the same time.
class RankCounters {
 public:
  // Opens the set of that name on the calling thread's device. Never null.
  using Open = std::function<std::unique_ptr<CounterBackend>(const std::string& set)>;

  // `open`: empty where another rank counts what this one does. Called, like answer(), by the rank's thread.
  explicit RankCounters(Open open) : open_(std::move(open)) {}

  // `restore` brings the caches into their state, `body` is one execution, complete when it returns; both are
  // called by count_pass alone. No rank works while another begins or ends to count. Throws what they throw,
  // and TransportError where another rank failed; then this one counts no longer.
  RankAnswer answer(const RankOrder& order, Transport& transport, const std::function<void()>& restore,
                    const std::function<void()>& body);

 private:
  RankAnswer pass(int pass, Transport& transport, const std::function<void()>& restore,
                  const std::function<void()>& body);
  RankAnswer close();

  const Open open_;
  std::unique_ptr<CounterBackend> backend_;
};

// The leader's part: `ask` gives an order to all ranks and returns their answers, by rank; `restore` is run
// before each pass. As many passes as the rank with most needs. A rank that cannot count leaves its events
// absent for all, with the reason. Throws what `ask` and `restore` throw.
std::map<std::string, Counter> count_ring(const CounterSet& set,
                                          const std::function<std::vector<RankAnswer>(const RankOrder&)>& ask,
                                          const std::function<void()>& restore);

}  // namespace hilbench
