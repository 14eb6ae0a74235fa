// A case on a ring of ranks: who owns what, who sends what to whom, and how much that is. Geometry in closed
// form, for any length.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/base/text/refusal.hpp"
#include "kernels/case/case.hpp"
#include "kernels/case/variant.hpp"
#include "kernels/ring/needs.hpp"
#include "kernels/ring/shards.hpp"

namespace hilbench {

inline constexpr std::int64_t kMaxRanks = 256;
// Parts of heads that ulysses forms by itself: with more, a launch of few heads fills a GPU less.
inline constexpr std::int64_t kMostHeadParts = 2;

// What `sharding: auto` is: zigzag for causal work whose contiguous shards exchange keys. Contiguous if
// nothing is exchanged, if ranks share heads, which balances by itself, and for baselines, whose authors
// shard so.
Sharding sharding_of(const Case& work, const Variant& variant);

// What `head_moves: auto` is, with the transport that the variant names.
HeadMoves head_moves_of(const Variant& variant);

// The reason why this geometry has no ring for the case, or nothing.
Refusal why_not_ring(const Case& work, const Variant& variant);

// What a move carries.
enum class Payload {
  keys,     // K and V of a shard, or of a part of it
  heads,    // Q, K and V of a shard, of a part of the heads that the receiver computes
  results,  // O and LSE of a shard, of a part of the heads that the sender computed
};

// Rows of one shard on their way between two ranks.
struct ShardMove {
  std::int64_t peer = 0;
  std::int64_t source = 0;           // whose shard
  int buffer = 0;                    // where the shard is at this rank: a receive buffer, or kOwnRows
  std::int64_t part = 0, parts = 1;  // which of how many equal parts of the rows, or of the heads
  Payload payload = Payload::keys;
};
inline constexpr int kOwnRows = -1;

// A rank posts the exchange, computes with the keys of the shards `sources`, and waits for the exchange. A
// rank that computes its share of the heads names itself: its keys are those of all shards.
struct RingStep {
  std::vector<ShardMove> sends, receives;
  struct Source {
    std::int64_t rank = 0;
    int buffer = 0;
    std::int64_t head_part = 0;
  };
  std::vector<Source> sources;
};

// Bytes that ranks send inside their group, and to other groups.
struct LevelBytes {
  double inside = 0, between = 0;
  double total() const { return inside + between; }
};

struct RankBytes {
  double inputs = 0, outputs = 0;  // own rows of Q, K and V; of O and LSE
  double buffers = 0;              // received rows, and those that are packed or split to be sent
  double fp32_output = 0;          // O in which pieces merge
  double total() const { return inputs + outputs + buffers + fp32_output; }
};

// A case with all defaults resolved, on ring_size ranks. Throws nothing; why_not_ring()
// must have no objection.
class Ring {
 public:
  Ring(const Case& work, const Variant& variant);

  const Case& work() const { return work_; }
  // With the sharding and the moves of heads that sharding_of() and head_moves_of() say.
  const Variant& variant() const { return variant_; }
  std::int64_t ranks() const { return shards_.ranks(); }
  // What really runs: `ring` for automatic, `local` if no rank needs keys of another.
  RingAlgorithm algorithm() const { return algorithm_; }
  const Shards& shards() const { return shards_; }  // of Q, O and LSE
  const HeadClasses& classes() const { return classes_; }
  // True if one launch of a rank computes with all shards. Each that it receives has a buffer of its own
  // then.
  bool persistent() const {
    return variant_.ring.launch == RingLaunch::persistent && algorithm_ != RingAlgorithm::local;
  }
  bool global_order() const { return variant_.ring.order_span == OrderSpan::global; }

  // Rows of K and V that a rank stores, and, in a global order, the first slot that they cover.
  std::int64_t kv_rows(std::int64_t rank) const;
  std::int64_t first_slot(std::int64_t rank) const;

  // True if a query of `rank` may see a key of `source`, another rank.
  bool sees(std::int64_t rank, std::int64_t source) const;
  // True if other ranks get the shard of `source` packed. It is sent whole if packing saves nothing.
  bool packed(std::int64_t source) const;
  std::int64_t sent_rows(std::int64_t source) const;  // K rows, and as many V rows, of every K/V head

  // Groups of neighbouring ranks, of equal size; 0 if none are known.
  std::int64_t groups() const { return variant_.ring.groups; }
  // False if no groups are known.
  bool between_groups(std::int64_t rank, std::int64_t other) const;

  // True if each rank computes a share of the heads, for all rows. Else it computes all heads of its own
  // rows.
  bool splits_heads() const { return algorithm_ == RingAlgorithm::ulysses; }
  std::int64_t computed_rows(std::int64_t rank) const;
  std::int64_t computed_heads() const { return splits_heads() ? work_.heads / ranks() : work_.heads; }
  std::int64_t computed_kv_heads() const {
    return splits_heads() ? work_.kv_heads / ranks() : work_.kv_heads;
  }
  // A rank exchanges and computes its share of the heads in as many parts, one after the other: 1 unless the
  // ring splits heads. A piece of the computation has the heads of one part.
  std::int64_t head_parts() const;
  // True if heads move in lines, between the tensors of two ranks.
  bool moves_heads_directly() const {
    return splits_heads() && variant_.ring.head_moves == HeadMoves::direct;
  }
  std::int64_t piece_heads() const { return computed_heads() / head_parts(); }
  std::int64_t piece_kv_heads() const { return computed_kv_heads() / head_parts(); }

  std::vector<RingStep> steps(std::int64_t rank) const;
  // The rows of K, and as many of V, that a move of keys carries, counted over the batch entries of the
  // shard.
  Span moved_rows(const ShardMove& move) const;
  double moved_bytes(const ShardMove& move) const;  // of any payload
  // The longest shard that is sent, of all ranks.
  std::int64_t longest_sent_rows() const;
  // True if a persistent ring sends heads whole, because the transport or an emulated link moves no lines:
  // then each rank has a copy of what it sends, with all rows of a head as neighbours.
  bool sends_heads_whole() const;
  // Rows that each receive buffer of a rank must hold. If the ring is persistent they are all as long as the
  // longest shard.
  std::vector<std::int64_t> buffer_rows(std::int64_t rank) const;

  // All bytes are `inside` if no groups are known. Without a rank: of all ranks.
  LevelBytes level_bytes(std::int64_t rank) const;
  LevelBytes level_bytes() const;
  double sent_bytes(std::int64_t rank) const { return level_bytes(rank).total(); }
  double sent_bytes() const { return level_bytes().total(); }
  // True if more than one launch may write to a row of O: then 16-bit results merge in fp32.
  bool merges() const;
  RankBytes memory(std::int64_t rank) const;

 private:
  std::vector<RingStep> gathering_steps(std::int64_t rank) const;
  std::vector<RingStep> persistent_steps(std::int64_t rank) const;
  std::vector<RingStep> passing_steps(std::int64_t rank) const;
  std::vector<RingStep> grouped_steps(std::int64_t rank) const;
  std::vector<RingStep> splitting_steps(std::int64_t rank) const;
  // How many ranks the shard of `source` must be passed on to, one after another.
  std::int64_t hops(std::int64_t source) const;
  // The same inside a group, from the rank that has the place of `source` in it; and from group to group.
  std::int64_t hops_in_group(std::int64_t source, std::int64_t group) const;
  std::int64_t hops_of_groups(std::int64_t source) const;
  double split_bytes(std::int64_t rank) const;  // buffers of a rank that computes a share of the heads
  double row_bytes(std::int64_t heads) const;   // of all batch entries
  double lse_bytes(std::int64_t heads) const;   // the same, of LSE or of one fp32 number of each head

  Case work_;
  Variant variant_;
  Shards shards_;
  Shards slots_;  // global order: who stores which slots
  HeadClasses classes_;
  RingNeeds needs_;
  RingAlgorithm algorithm_;
};

}  // namespace hilbench
