#include "kernels/ring/ring.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/orders/order.hpp"

namespace hilbench {
namespace {

constexpr std::int64_t kMaxHeads = 1 << 16;

bool packs(RingAlgorithm algorithm) {
  return algorithm == RingAlgorithm::ring_packed || algorithm == RingAlgorithm::allgather_packed;
}

bool gathers(RingAlgorithm algorithm) {
  return algorithm == RingAlgorithm::allgather || algorithm == RingAlgorithm::allgather_packed;
}

}  // namespace

std::optional<std::string> why_not_ring(const Case& work, const Variant& variant) {
  if (work.ring_size > kMaxRanks)
    return fmt::format("ring_size {}: rings have at most {} ranks", work.ring_size, kMaxRanks);
  if (work.heads > kMaxHeads) return fmt::format("{} heads: rings take at most {}", work.heads, kMaxHeads);
  if (variant.order_scope == OrderScope::tokens) return "a ring has no order_scope tokens";
  const bool global = variant.order_span == OrderSpan::global;
  if (global && variant.order_tensors == OrderTensors::qkv)
    return "order_span global stores Q by position: order_tensors must be kv";
  if (global && packs(variant.ring_algorithm))
    return "packed rows are taken from shards: order_span must be shard";
  if (!global && variant.order == "file")
    return "an order file is of the whole sequence: order_span must be global";
  return std::nullopt;
}

Ring::Ring(const Case& work, const Variant& variant)
    : work_(work),
      variant_(variant),
      shards_(variant.sharding, work.sequence_length, work.ring_size),
      slots_(Sharding::contiguous, work.sequence_length, work.ring_size),
      classes_(work),
      needs_(work, shards_, classes_),
      algorithm_(variant.ring_algorithm) {
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

bool Ring::packed(std::int64_t source) const {
  return packs(algorithm_) && needs_.packed_rows(source) < shards_.count(source);
}

std::int64_t Ring::sent_rows(std::int64_t source) const {
  return packed(source) ? needs_.packed_rows(source) : kv_rows(source);
}

std::int64_t Ring::hops(std::int64_t source) const {
  if (sent_rows(source) == 0) return 0;
  std::int64_t hop = ranks() - 1;
  while (hop > 0 && !sees((source + hop) % ranks(), source)) --hop;
  return hop;
}

std::vector<RingStep> Ring::steps(std::int64_t rank) const {
  if (algorithm_ == RingAlgorithm::local) return {{.sources = {{rank, kOwnRows}}}};
  return gathers(algorithm_) ? gathering_steps(rank) : passing_steps(rank);
}

// allgather sends every shard to every rank; allgather_packed sends a shard only to ranks that see
// some of its keys.
std::vector<RingStep> Ring::gathering_steps(std::int64_t rank) const {
  const auto goes = [&](std::int64_t to, std::int64_t source) {
    return sent_rows(source) > 0 && (algorithm_ == RingAlgorithm::allgather || sees(to, source));
  };
  RingStep exchange, compute{.sources = {{rank, kOwnRows}}};
  for (std::int64_t other = 0; other < ranks(); ++other) {
    if (other == rank) continue;
    if (goes(other, rank)) exchange.sends.push_back({other, rank, kOwnRows});
    if (!goes(rank, other)) continue;
    const auto buffer = static_cast<int>(exchange.receives.size());
    exchange.receives.push_back({other, other, buffer});
    if (sees(rank, other)) compute.sources.push_back({other, buffer});
  }
  return {exchange, compute};
}

// In step s the rank computes with the keys of the rank s places before it. Meanwhile it passes that shard on
// to the next rank, and the shard of the rank s + 1 places before it arrives.
std::vector<RingStep> Ring::passing_steps(std::int64_t rank) const {
  std::vector<RingStep> steps;
  for (std::int64_t s = 0; s < ranks(); ++s) {
    const std::int64_t source = (rank - s + ranks()) % ranks();
    const std::int64_t next = (source - 1 + ranks()) % ranks();
    const int buffer = s == 0 ? kOwnRows : static_cast<int>((s - 1) % 2);
    RingStep step;
    if (hops(source) > s) step.sends.push_back({(rank + 1) % ranks(), source, buffer});
    if (s + 1 < ranks() && hops(next) > s)
      step.receives.push_back({(rank - 1 + ranks()) % ranks(), next, static_cast<int>(s % 2)});
    if (s == 0 || sees(rank, source)) step.sources.push_back({source, buffer});
    steps.push_back(step);
  }
  return steps;
}

std::vector<std::int64_t> Ring::buffer_rows(std::int64_t rank) const {
  std::vector<std::int64_t> rows;
  for (const RingStep& step : steps(rank))
    for (const ShardMove& move : step.receives) {
      const auto buffer = static_cast<std::size_t>(move.buffer);
      rows.resize(std::max(rows.size(), buffer + 1));
      rows[buffer] = std::max(rows[buffer], sent_rows(move.source));
    }
  return rows;
}

double Ring::row_bytes(std::int64_t heads) const {
  return static_cast<double>(work_.batch) * static_cast<double>(heads) * static_cast<double>(work_.head_dim) *
         static_cast<double>(dtype_bytes(work_.dtype));
}

double Ring::sent_bytes(std::int64_t rank) const {
  double rows = 0;
  for (const RingStep& step : steps(rank))
    for (const ShardMove& move : step.sends) rows += static_cast<double>(sent_rows(move.source));
  return 2 * rows * row_bytes(work_.kv_heads);
}

double Ring::sent_bytes() const {
  double bytes = 0;
  for (std::int64_t rank = 0; rank < ranks(); ++rank) bytes += sent_bytes(rank);
  return bytes;
}

bool Ring::merges() const {
  return algorithm_ != RingAlgorithm::local ||
         (work_.pattern.size() > 1 && work_.branch_heads == BranchHeads::all);
}

RankBytes Ring::memory(std::int64_t rank) const {
  const auto rows = static_cast<double>(shards_.count(rank));
  const double kv_row = 2 * row_bytes(work_.kv_heads);
  const double outputs = rows * static_cast<double>(work_.batch) * static_cast<double>(work_.heads);
  RankBytes bytes{.inputs = rows * row_bytes(work_.heads) + static_cast<double>(kv_rows(rank)) * kv_row,
                  .outputs = rows * row_bytes(work_.heads) + 4 * outputs};
  for (const std::int64_t held : buffer_rows(rank)) bytes.buffers += static_cast<double>(held) * kv_row;
  if (packed(rank)) bytes.buffers += static_cast<double>(sent_rows(rank)) * kv_row;
  if (merges() && work_.dtype != Dtype::fp32)
    bytes.fp32_output = 4 * outputs * static_cast<double>(work_.head_dim);
  return bytes;
}

}  // namespace hilbench
