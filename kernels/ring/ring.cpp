#include "kernels/ring/ring.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/orders/order.hpp"

namespace hilbench {
namespace {

constexpr std::int64_t kMaxHeads = 1 << 16;

bool packs(RingAlgorithm algorithm) {
  return algorithm == RingAlgorithm::ring_packed || algorithm == RingAlgorithm::allgather_packed ||
         algorithm == RingAlgorithm::hierarchical_packed;
}

bool needs_groups(RingAlgorithm algorithm) {
  return algorithm == RingAlgorithm::hierarchical || algorithm == RingAlgorithm::hierarchical_packed;
}

Refusal why_not_groups(const Case& work, const Variant& variant) {
  if (work.ring_size == 1) return std::nullopt;
  if (variant.ring.groups == 0) {
    if (variant.ring.outer_link == OuterLink::emulated_host)
      return "outer_link emulated_host slows what groups of ranks send to each other: ring_groups must say "
             "how many";
    if (!needs_groups(variant.ring.algorithm)) return std::nullopt;
    return fmt::format(
        "{} passes keys between groups of ranks, and all are on one host: ring_groups must say how many",
        to_string(variant.ring.algorithm));
  }
  if (variant.ring.groups > 0 && work.ring_size % variant.ring.groups == 0) return std::nullopt;
  return fmt::format("ring_groups {}: ring_size {} is no multiple of it", variant.ring.groups,
                     work.ring_size);
}

// NCCL, MPI and an emulated link move only what is contiguous.
bool moves_lines(const Variant& variant) {
  return variant.ring.transport != TransportKind::nccl && variant.ring.transport != TransportKind::mpi &&
         variant.ring.outer_link == OuterLink::direct;
}

bool rank_needs_another(const Case& work, const Variant& variant) {
  if (work.ring_size == 1) return false;
  if (variant.ring.order_span == OrderSpan::global) return true;
  const Shards shards(sharding_of(work, variant), work.sequence_length, work.ring_size);
  return RingNeeds(work, shards, HeadClasses(work)).any();
}

// Ulysses gives each rank whole query heads and their K/V heads, if it has to exchange anything.
Refusal why_not_split(const Case& work, const Variant& variant) {
  if (variant.ring.algorithm != RingAlgorithm::ulysses || !rank_needs_another(work, variant))
    return std::nullopt;
  if (variant.ring.head_moves == HeadMoves::direct && !moves_lines(variant))
    return variant.ring.outer_link == OuterLink::direct
               ? fmt::format("head_moves direct: transport {} moves only what is contiguous",
                             to_string(variant.ring.transport))
               : "head_moves direct: an emulated link moves only what is contiguous";
  if (work.heads % work.ring_size == 0 && work.kv_heads % work.ring_size == 0) {
    const std::int64_t kv_heads = work.kv_heads / work.ring_size;
    if (variant.ring.head_parts == 0 || kv_heads % variant.ring.head_parts == 0) return std::nullopt;
    return fmt::format("head_parts {}: a rank's K/V heads, {}, are no multiple of it",
                       variant.ring.head_parts, kv_heads);
  }
  return fmt::format(
      "ulysses gives each rank as many heads: of heads {} and kv_heads {}, both must be multiples "
      "of ring_size {}",
      work.heads, work.kv_heads, work.ring_size);
}

// One launch needs all keys of its heads: each shard in a buffer of its own, in the sequence of arrival.
Refusal why_not_persistent(const Case& work, const Variant& variant) {
  if (variant.ring.launch != RingLaunch::persistent || work.ring_size == 1) return std::nullopt;
  if (needs_groups(variant.ring.algorithm) || variant.ring.algorithm == RingAlgorithm::ulysses)
    return fmt::format(
        "ring_launch persistent: {} computes in steps; ring, allgather and their packed forms "
        "have one launch a rank",
        to_string(variant.ring.algorithm));
  if (variant.kernel().traversal.starts_with("sawtooth"))
    return "ring_launch persistent: shards are visited in the sequence in which they arrive, never backwards "
           "as in traversal " +
           variant.kernel().traversal;
  return std::nullopt;
}

Variant resolved(const Case& work, Variant variant) {
  variant.ring.sharding = sharding_of(work, variant);
  variant.ring.head_moves = head_moves_of(variant);
  return variant;
}

}  // namespace

Refusal why_not_ring(const Case& work, const Variant& variant) {
  if (work.ring_size > kMaxRanks)
    return fmt::format("ring_size {}: rings have at most {} ranks", work.ring_size, kMaxRanks);
  if (work.heads > kMaxHeads) return fmt::format("{} heads: rings take at most {}", work.heads, kMaxHeads);
  if (variant.kernel().order_scope == OrderScope::tokens) return "a ring has no order_scope tokens";
  if (variant.kernel().order_scope == OrderScope::keys) return "a ring has no order_scope keys";
  const bool global = variant.ring.order_span == OrderSpan::global;
  if (global && variant.kernel().order_tensors == OrderTensors::qkv)
    return "order_span global stores Q by position: order_tensors must be kv";
  if (global && packs(variant.ring.algorithm))
    return "packed rows are taken from shards: order_span must be shard";
  if (!global && variant.kernel().order == "file")
    return "an order file is of the whole sequence: order_span must be global";
  if (Refusal reason = why_not_groups(work, variant)) return reason;
  if (Refusal reason = why_not_persistent(work, variant)) return reason;
  return why_not_split(work, variant);
}

Sharding sharding_of(const Case& work, const Variant& variant) {
  if (variant.ring.sharding != Sharding::automatic) return variant.ring.sharding;
  const bool balanced = work.mask != Mask::causal || variant.ring.algorithm == RingAlgorithm::ulysses;
  if (balanced || variant.is_baseline() || work.ring_size == 1) return Sharding::contiguous;
  if (variant.ring.order_span == OrderSpan::global) return Sharding::zigzag;
  const Shards contiguous(Sharding::contiguous, work.sequence_length, work.ring_size);
  return RingNeeds(work, contiguous, HeadClasses(work)).any() ? Sharding::zigzag : Sharding::contiguous;
}

HeadMoves head_moves_of(const Variant& variant) {
  if (variant.ring.head_moves != HeadMoves::automatic) return variant.ring.head_moves;
  return moves_lines(variant) ? HeadMoves::direct : HeadMoves::regrouped;
}

Ring::Ring(const Case& work, const Variant& variant)
    : work_(work),
      variant_(resolved(work, variant)),
      shards_(variant_.ring.sharding, work.sequence_length, work.ring_size),
      slots_(Sharding::contiguous, work.sequence_length, work.ring_size),
      classes_(work),
      needs_(work, shards_, classes_),
      algorithm_(variant.ring.algorithm) {
  if (algorithm_ == RingAlgorithm::automatic) algorithm_ = RingAlgorithm::ring;
  if (ranks() == 1 || (!global_order() && !needs_.any())) algorithm_ = RingAlgorithm::local;
}

std::int64_t Ring::kv_rows(std::int64_t rank) const {
  return global_order() ? slots_.count(rank) : shards_.count(rank);
}

std::int64_t Ring::first_slot(std::int64_t rank) const {
  return global_order() ? slots_.position(rank, 0) : 0;
}

// If the shards are cut from a global order, any key may be anywhere.
bool Ring::sees(std::int64_t rank, std::int64_t source) const {
  if (!global_order()) return needs_.sees(rank, source);
  return rank != source && shards_.count(rank) > 0 && kv_rows(source) > 0;
}

std::int64_t Ring::computed_rows(std::int64_t rank) const {
  return splits_heads() ? work_.sequence_length : shards_.count(rank);
}

bool Ring::packed(std::int64_t source) const {
  return packs(algorithm_) && needs_.packed_rows(source) < shards_.count(source);
}

std::int64_t Ring::sent_rows(std::int64_t source) const {
  return packed(source) ? needs_.packed_rows(source) : kv_rows(source);
}

std::int64_t Ring::head_parts() const {
  if (!splits_heads()) return 1;
  if (variant_.ring.head_parts > 0) return variant_.ring.head_parts;
  std::int64_t parts = std::min(kMostHeadParts, computed_kv_heads());
  while (computed_kv_heads() % parts != 0) --parts;
  return parts;
}

std::vector<std::int64_t> Ring::buffer_rows(std::int64_t rank) const {
  std::vector<std::int64_t> rows;
  for (const RingStep& step : steps(rank))
    for (const ShardMove& move : step.receives) {
      if (move.payload != Payload::keys) continue;
      const auto buffer = static_cast<std::size_t>(move.buffer);
      rows.resize(std::max(rows.size(), buffer + 1));
      rows[buffer] = std::max(rows[buffer], sent_rows(move.source));
    }
  if (persistent()) std::fill(rows.begin(), rows.end(), longest_sent_rows());
  return rows;
}

bool Ring::sends_heads_whole() const {
  return persistent() && !moves_lines(variant_);
}

std::int64_t Ring::longest_sent_rows() const {
  std::int64_t longest = 0;
  for (std::int64_t rank = 0; rank < ranks(); ++rank) longest = std::max(longest, sent_rows(rank));
  return longest;
}

double Ring::moved_bytes(const ShardMove& move) const {
  const Span moved = move.payload == Payload::keys ? moved_rows(move) : Span{};
  const double rows = static_cast<double>(shards_.count(move.source));
  switch (move.payload) {
    case Payload::keys:
      return 2 * static_cast<double>(moved.end - moved.begin) * row_bytes(work_.kv_heads) /
             static_cast<double>(work_.batch);
    case Payload::heads:
      return rows * row_bytes(piece_heads()) +
             2 * static_cast<double>(kv_rows(move.source)) * row_bytes(piece_kv_heads());
    case Payload::results:
      return rows * (row_bytes(piece_heads()) + lse_bytes(piece_heads()));
  }
  return 0;
}

double Ring::row_bytes(std::int64_t heads) const {
  return static_cast<double>(work_.batch) * static_cast<double>(heads) * static_cast<double>(work_.head_dim) *
         static_cast<double>(dtype_bytes(work_.dtype));
}

double Ring::lse_bytes(std::int64_t heads) const {
  return 4 * static_cast<double>(work_.batch) * static_cast<double>(heads);
}

LevelBytes Ring::level_bytes(std::int64_t rank) const {
  LevelBytes bytes;
  for (const RingStep& step : steps(rank))
    for (const ShardMove& move : step.sends)
      (between_groups(rank, move.peer) ? bytes.between : bytes.inside) += moved_bytes(move);
  return bytes;
}

LevelBytes Ring::level_bytes() const {
  LevelBytes bytes;
  for (std::int64_t rank = 0; rank < ranks(); ++rank) {
    const LevelBytes own = level_bytes(rank);
    bytes.inside += own.inside;
    bytes.between += own.between;
  }
  return bytes;
}

bool Ring::merges() const {
  const bool many_pieces = algorithm_ != RingAlgorithm::local && !splits_heads() && !persistent();
  return many_pieces || (work_.pattern.size() > 1 && work_.branch_heads == BranchHeads::all);
}

// All rows of the computed heads. If heads are regrouped, also own rows of the other ranks' heads, to be
// sent, and LSE of them, received; O of them takes the place of Q. And then, if a shard's rows are not
// neighbours, those rows of O and LSE to be sent.
double Ring::split_bytes(std::int64_t rank) const {
  const auto rows = static_cast<double>(shards_.count(rank));
  const auto all = static_cast<double>(work_.sequence_length);
  const auto others = static_cast<double>(ranks() - 1);
  const double q_row = row_bytes(computed_heads()), kv_row = 2 * row_bytes(computed_kv_heads());
  const double lse_row = lse_bytes(computed_heads());
  double bytes = all * (2 * q_row + kv_row + lse_row);
  if (moves_heads_directly()) return bytes;
  bytes += others * (rows * (q_row + lse_row) + static_cast<double>(kv_rows(rank)) * kv_row);
  if (shards_.sharding() != Sharding::contiguous) bytes += (all - rows) * (q_row + lse_row);
  return bytes;
}

RankBytes Ring::memory(std::int64_t rank) const {
  const auto rows = static_cast<double>(shards_.count(rank));
  const double kv_row = 2 * row_bytes(work_.kv_heads);
  RankBytes bytes{.inputs = rows * row_bytes(work_.heads) + static_cast<double>(kv_rows(rank)) * kv_row,
                  .outputs = rows * (row_bytes(work_.heads) + lse_bytes(work_.heads))};
  for (const std::int64_t held : buffer_rows(rank)) bytes.buffers += static_cast<double>(held) * kv_row;
  if (packed(rank) || sends_heads_whole()) bytes.buffers += static_cast<double>(sent_rows(rank)) * kv_row;
  if (splits_heads()) bytes.buffers += split_bytes(rank);
  if (merges() && work_.dtype != Dtype::fp32)
    bytes.fp32_output = static_cast<double>(computed_rows(rank)) * lse_bytes(computed_heads()) *
                        static_cast<double>(work_.head_dim);
  return bytes;
}

}  // namespace hilbench
