// One rank of a ring: its shard of the inputs and of the output, and what it does with them on command.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/measure/bench.hpp"
#include "harness/ring/counters.hpp"
#include "harness/ring/rank_command.hpp"
#include "harness/ring/rank_resources.hpp"
#include "kernels/ring/ring_execution.hpp"

namespace hilbench {

class RingRank {
 public:
  // Allocates memory, computes its rows and builds its indices; exchanges nothing. It is rank `index` of
  // `resources`, which it must have joined. `bench` and `resources` must outlive it. Throws like
  // make_variant.
  RingRank(Bench& bench, const Ring& ring, const std::string& kernel, RankResources& resources, int index);
  // All ranks of the ring must get the same command at the same time.
  RankAnswer answer(const RankCommand& command);

 private:
  RankAnswer obey(const DescribeRank&);
  RankAnswer obey(const RunRing& run);
  RankAnswer obey(const TimeLink& link);
  RankAnswer obey(const OpenCounters& open);
  RankAnswer obey(const CountPass& count);
  RankAnswer obey(const CloseCounters&);
  RankAnswer obey(const FillOutput& fill);
  RankAnswer obey(const CountBad&);
  RankAnswer obey(const LoadInputs& load);
  RankAnswer obey(const ProbeKeys& probe);
  RankAnswer obey(const ReadOutput& read);

  LevelBytes sent() const;  // so far
  void evict_caches();

  Operands operands() const;
  OutputReader own_rows();
  OutputRows row_numbers() const;
  void read_o(std::int64_t first, std::span<float> to);
  void read_lse(std::int64_t first, std::span<float> to);
  Buffer shard_of(Tensor which, bool ordered);
  std::vector<std::int32_t> positions() const;  // of own rows
  std::vector<std::int32_t> stored_positions(Tensor which) const;
  Buffer made_rows(Tensor which, const std::vector<std::int32_t>& positions);
  void make_rows(Tensor which, const std::vector<std::int32_t>& positions, const InputTensors& from,
                 Buffer& to);
  Device& device() { return resources_.device(index_); }
  std::int64_t rank() const { return resources_.transport(index_).rank(); }
  std::int64_t row_count() const;  // own rows of one batch entry
  std::int64_t heads_of(Tensor which) const;

  Bench& bench_;
  const Ring ring_;
  RankResources& resources_;
  const int index_;
  const int threads_;
  InputSet held_ = InputSet::first;
  StoredInputs inputs_;            // own rows, as stored_q_positions and stored_kv_positions list them
  Buffer o_, lse_;                 // own rows
  std::vector<std::byte> stored_;  // those of o_ that are being read
  std::unique_ptr<RingExecution> execution_;
  std::optional<double> permute_ns_;
  RankCounters counters_;
};

// What every rank sends at once to time a link: long enough for a GPU's, and less between processors.
std::size_t timed_link_bytes(DeviceKind device);

// The ring of a record that the plan does not skip.
Ring ring_of(const Record& record);

// Threads for each of `ranks`, if the ring has `threads` in all.
int threads_of_a_rank(int threads, std::int64_t ranks);

}  // namespace hilbench
