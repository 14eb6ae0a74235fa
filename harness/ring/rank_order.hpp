// What all ranks of a ring are ordered to do at the same time, and what each answers. A rank may be another
// process: orders and answers travel as JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/counters/counters.hpp"
#include "harness/measure/verify.hpp"
#include "kernels/ring/ring_execution.hpp"

namespace hilbench {

enum class RankAction { describe, run, open_counters, count_pass, close_counters, fill, verify, read };
enum class OutputTensor { o, lse };

struct RankOrder {
  RankAction action = RankAction::describe;
  RingPart part = RingPart::all;          // run
  std::int64_t executions = 1;            // run
  bool cold = false;                      // run, count_pass: whether the caches are emptied before each
  std::string counter_set;                // open_counters
  int pass = 0;                           // count_pass: one execution
  std::byte value{};                      // fill: of every byte of the output
  OutputTensor tensor = OutputTensor::o;  // read
  std::int64_t first = 0, count = 0;      // read: elements of the whole tensor
};
nlohmann::json to_json(const RankOrder& order);
RankOrder rank_order_from_json(const nlohmann::json& json);

// Whether ranks wait for each other in what is ordered.
bool moves_data(const RankOrder& order);

struct RankAnswer {
  double bytes = 0;                                          // describe: that the rank holds
  std::optional<double> permute_ns;                          // describe
  std::vector<std::pair<std::int64_t, std::int64_t>> spans;  // run: RankResources's, of each execution
  std::uint64_t sent_bytes = 0;                              // run: in the last execution; count_pass
  bool counts = false;                                       // open_counters: whether this rank counts
  int passes = 0;                                            // open_counters: executions that it needs
  bool failed = false;                                       // count_pass: it can count no longer
  RawCounts counted;                                         // close_counters: empty where it does not count
  OutputErrors errors;                                       // verify: of its rows
  std::vector<float> values;                                 // read: those of them that it owns
};
nlohmann::json to_json(const RankAnswer& answer);
RankAnswer rank_answer_from_json(const nlohmann::json& json);

}  // namespace hilbench
