// A case on a ring of ranks: who owns what, who sends what to whom, and how much that is. Geometry in closed
// form, for any length.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/case/case.hpp"
#include "kernels/case/variant.hpp"
#include "kernels/ring/needs.hpp"
#include "kernels/ring/shards.hpp"

namespace hilbench {

inline constexpr std::int64_t kMaxRanks = 256;

// The reason why this geometry has no ring for the case, or nothing.
std::optional<std::string> why_not_ring(const Case& work, const Variant& variant);

// K and V rows of one shard on their way between two ranks.
struct ShardMove {
  std::int64_t peer = 0;
  std::int64_t source = 0;  // whose shard
  int buffer = 0;           // where these rows are at this rank: a receive buffer, or kOwnRows
};
inline constexpr int kOwnRows = -1;

// A rank posts the exchange, computes with the keys of the shards `sources`, and waits for the exchange.
struct RingStep {
  std::vector<ShardMove> sends, receives;
  struct Source {
    std::int64_t rank = 0;
    int buffer = 0;
  };
  std::vector<Source> sources;
};

struct RankBytes {
  double inputs = 0, outputs = 0;  // own rows of Q, K and V; of O and LSE
  double buffers = 0;              // received rows, and the packed ones that are sent
  double fp32_output = 0;          // O in which pieces merge
  double total() const { return inputs + outputs + buffers + fp32_output; }
};

// A case with all defaults resolved, on ring_size ranks. Throws nothing; why_not_ring()
// must have no objection.
class Ring {
 public:
  Ring(const Case& work, const Variant& variant);

  const Case& work() const { return work_; }
  const Variant& variant() const { return variant_; }
  std::int64_t ranks() const { return shards_.ranks(); }
  // What really runs: `ring` for automatic, `local` if no rank needs keys of another.
  RingAlgorithm algorithm() const { return algorithm_; }
  const Shards& shards() const { return shards_; }  // of Q, O and LSE
  const HeadClasses& classes() const { return classes_; }
  bool global_order() const { return variant_.order_span == OrderSpan::global; }

  // Rows of K and V that a rank stores, and, in a global order, the first slot that they cover.
  std::int64_t kv_rows(std::int64_t rank) const;
  std::int64_t first_slot(std::int64_t rank) const;

  // True if a query of `rank` may see a key of `source`, another rank.
  bool sees(std::int64_t rank, std::int64_t source) const;
  // True if other ranks get the shard of `source` packed. It is sent whole if packing saves nothing.
  bool packed(std::int64_t source) const;
  std::int64_t sent_rows(std::int64_t source) const;  // K rows, and as many V rows, of every K/V head

  std::vector<RingStep> steps(std::int64_t rank) const;
  // Rows that each receive buffer of a rank must hold.
  std::vector<std::int64_t> buffer_rows(std::int64_t rank) const;

  double sent_bytes(std::int64_t rank) const;
  double sent_bytes() const;  // of all ranks
  // True if more than one launch may write to a row of O: then 16-bit results merge in fp32.
  bool merges() const;
  RankBytes memory(std::int64_t rank) const;

 private:
  std::vector<RingStep> gathering_steps(std::int64_t rank) const;
  std::vector<RingStep> passing_steps(std::int64_t rank) const;
  // How many ranks the shard of `source` must be passed on to, one after another.
  std::int64_t hops(std::int64_t source) const;
  double row_bytes(std::int64_t heads) const;

  Case work_;
  Variant variant_;
  Shards shards_;
  Shards slots_;  // global order: who stores which slots
  HeadClasses classes_;
  RingNeeds needs_;
  RingAlgorithm algorithm_;
};

}  // namespace hilbench
