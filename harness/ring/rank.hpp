// One rank of a ring: its shard of the inputs and of the output, and what it does with them when it is told
// to.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/measure/bench.hpp"
#include "harness/ring/counters.hpp"
#include "harness/ring/rank_resources.hpp"
#include "kernels/ring/ring_execution.hpp"

namespace hilbench {

// Orders and answers are JSON, since a rank may be another process; `do` says what:
//   {"do": "describe"}                             {"bytes": that it holds, "permute_ns": null where none}
//   {"do": "run", "part": RingPart, "executions": n, "cold": whether the caches are emptied before each}
//                                                  {"spans": [[begin, end], ...], "sent": bytes in the last}
//   {"do": "count", "step": ..., "cold": as above}  those of RankCounters
//   {"do": "fill", "value": byte}                  {}: every byte of the output
//   {"do": "verify"}                               the OutputErrors of its rows
//   {"do": "read", "tensor": "o" or "lse", "first": element of the whole tensor, "count": elements}
//                                                  {"values": fp32, as binary}: those of them that it owns
// Every rank of the ring gets the same order at the same time. Spans are RankResources's.
class RingRank {
 public:
  // Takes its memory, makes its rows and builds its indices; exchanges nothing. It is rank `seat` of the bed,
  // which it has joined. `bench` and `bed` outlive it. Throws as make_variant does.
  RingRank(Bench& bench, const Record& record, RankResources& bed, int seat);
  nlohmann::json answer(const nlohmann::json& order);

 private:
  nlohmann::json describe() const;
  nlohmann::json run(RingPart part, std::int64_t executions, bool cold);
  nlohmann::json count(const nlohmann::json& order);
  void evict_caches();
  nlohmann::json verify();
  nlohmann::json read(bool lse, std::int64_t first, std::int64_t count);

  Operands operands() const;
  OutputReader own_rows();
  void read_o(std::int64_t first, std::span<float> to);
  void read_lse(std::int64_t first, std::span<float> to);
  Buffer shard_of(Tensor which, bool ordered);
  Buffer made_rows(Tensor which, const std::vector<std::int32_t>& positions);
  Device& device() { return bed_.device(seat_); }
  std::int64_t rank() const { return bed_.transport(seat_).rank(); }
  std::int64_t row_count() const;  // of one batch entry
  std::int64_t heads_of(Tensor which) const;

  Bench& bench_;
  const Ring ring_;
  RankResources& bed_;
  const int seat_;
  const int threads_;
  StoredInputs inputs_;  // own rows, as stored_q_positions and stored_kv_positions list them
  Buffer o_, lse_;       // own rows
  std::unique_ptr<RingExecution> execution_;
  std::optional<double> permute_ns_;
  RankCounters counters_;
};

// Whether ranks wait for each other in what is ordered.
bool moves_data(const nlohmann::json& order);

// Of `threads` in all.
int threads_of_a_rank(int threads, std::int64_t ranks);

}  // namespace hilbench
