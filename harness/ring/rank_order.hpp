// The orders that all ranks of a ring get at the same time, and their answers. A rank may be another process,
// so both can be written as JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/counters/counters.hpp"
#include "harness/measure/inputs.hpp"
#include "harness/measure/key_probe.hpp"
#include "harness/measure/verify.hpp"
#include "kernels/ring/ring_execution.hpp"

namespace hilbench {

enum class RankAction {
  describe,
  run,
  time_link,
  open_counters,
  count_pass,
  close_counters,
  fill,
  verify,
  load,
  probe,
  read
};
enum class OutputTensor { o, lse };

struct RankOrder {
  RankAction action = RankAction::describe;
  RingPart part = RingPart::all;          // run
  std::int64_t executions = 1;            // run, time_link
  bool between = false;                   // time_link: send to the next group, or to the next rank in it
  bool cold = false;                      // run, count_pass: evict the caches before each execution
  std::string counter_set;                // open_counters
  int pass = 0;                           // count_pass: number of this pass; a pass is one execution
  std::byte value{};                      // fill: set every byte of the output to this
  InputSet inputs = InputSet::ordinary;   // load: further runs compute on these
  OutputTensor tensor = OutputTensor::o;  // read
  std::int64_t first = 0, count = 0;      // read: these elements of the whole tensor
};
nlohmann::json to_json(const RankOrder& order);
RankOrder rank_order_from_json(const nlohmann::json& json);

// What every rank sends at once to time a link.
inline constexpr std::size_t kTimedLinkBytes = std::size_t{32} << 20;

// True if ranks wait for each other while they do what is ordered.
bool moves_data(const RankOrder& order);

struct RankAnswer {
  double bytes = 0;                                          // describe: memory of the rank
  std::optional<double> permute_ns;                          // describe: none if nothing was permuted
  std::vector<std::pair<std::int64_t, std::int64_t>> spans;  // run, time_link: RankResources::span() of each
  std::uint64_t sent_bytes = 0;                              // run, in the last execution; count_pass
  std::uint64_t sent_between = 0;                            // run: those of them that left the rank's group
  bool counts = false;                                       // open_counters: true if this rank counts
  int passes = 0;                                            // open_counters: executions that its set needs
  bool failed = false;                                       // count_pass: true if it can count no longer
  RawCounts counted;                                         // close_counters: empty if it does not count
  OutputErrors errors;                                       // verify: errors of its own rows
  ProbeErrors probed;                                        // probe: likewise
  std::vector<float> values;                                 // read: those that it owns
};
nlohmann::json to_json(const RankAnswer& answer);
RankAnswer rank_answer_from_json(const nlohmann::json& json);

}  // namespace hilbench
