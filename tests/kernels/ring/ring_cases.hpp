// Random cases for rings: short and odd lengths, every option.
#pragma once

#include <array>

#include "kernels/ring/ring.hpp"
#include "tests/kernels/attention_problem.hpp"

namespace hilbench {

inline constexpr std::array kRingAlgorithms = {
    RingAlgorithm::allgather,        RingAlgorithm::ring,         RingAlgorithm::ring_packed,
    RingAlgorithm::allgather_packed, RingAlgorithm::hierarchical, RingAlgorithm::hierarchical_packed,
    RingAlgorithm::ulysses};
// Those that one launch a rank computes.
inline constexpr std::array kPersistentAlgorithms = {RingAlgorithm::allgather, RingAlgorithm::ring,
                                                     RingAlgorithm::ring_packed,
                                                     RingAlgorithm::allgather_packed};
inline constexpr std::array kShardings = {Sharding::automatic, Sharding::contiguous, Sharding::zigzag,
                                          Sharding::striped};
inline constexpr std::array<std::int64_t, 6> kRingSizes = {1, 2, 3, 4, 5, 8};

// If `algorithm` splits heads, each rank gets as many.
inline Case random_ring_case(Random& random, std::int64_t ranks, std::int64_t longest,
                             RingAlgorithm algorithm = RingAlgorithm::automatic) {
  Case work;
  work.ring_size = ranks;
  work.sequence_length = between(random, 0, 5) == 0 ? between(random, 1, ranks) : between(random, 1, longest);
  work.pattern.clear();
  for (std::int64_t branches = between(random, 1, 3); branches > 0; --branches) {
    const std::int64_t n = work.sequence_length;
    const std::int64_t w =
        one_of(random, {n, n, between(random, 1, n + 3), (n + 1) / 2, (n + ranks - 1) / ranks});
    work.pattern.push_back(
        {w, one_of(random, {std::int64_t{1}, between(random, 1, w), std::min(w, between(random, 1, 8)),
                            std::min<std::int64_t>(w, 4)})});
  }
  work.batch = between(random, 1, 2);
  work.kv_heads = between(random, 1, 3);
  work.heads = work.kv_heads * between(random, 1, 2) + between(random, 0, 1);
  if (algorithm == RingAlgorithm::ulysses) {
    work.kv_heads = ranks * between(random, 1, 2);
    work.heads = work.kv_heads * between(random, 1, 2);
  }
  work.head_dim = 16;
  work.mask = one_of(random, {Mask::full, Mask::causal});
  work.queries = one_of(random, {Queries::dilated, Queries::dense});
  work.head_offset = static_cast<HeadOffset>(between(random, 0, 3));
  work.branch_heads = one_of(random, {BranchHeads::all, BranchHeads::all, BranchHeads::partition});
  work.device = DeviceKind::cpu;
  return work;
}

// A number of groups that `ranks` can form.
inline std::int64_t random_groups(Random& random, std::int64_t ranks) {
  std::int64_t groups = 0;
  do groups = between(random, 1, ranks);
  while (ranks % groups != 0);
  return groups;
}

inline Variant random_ring_variant(Random& random, std::int64_t ranks, RingAlgorithm algorithm,
                                   Sharding sharding) {
  Variant variant{KernelChoice{.name = "dilated_cpu"}};
  variant.ring.algorithm = algorithm;
  variant.ring.sharding = sharding;
  const bool grouped =
      algorithm == RingAlgorithm::hierarchical || algorithm == RingAlgorithm::hierarchical_packed;
  if (grouped || between(random, 0, 2) == 0) variant.ring.groups = random_groups(random, ranks);
  if (variant.ring.groups > 0)
    variant.ring.outer_link = one_of(random, {OuterLink::direct, OuterLink::emulated_host});
  if (algorithm == RingAlgorithm::ulysses) {
    variant.ring.head_parts = between(random, 0, 1);
    if (between(random, 0, 1) == 0) variant.ring.head_moves = HeadMoves::regrouped;
  }
  KernelChoice& kernel = variant.change();
  kernel.order = one_of<std::string>(random, {"linear", "hilbert", "residue", "random", "snake"});
  kernel.order_chunk = one_of<std::int64_t>(random, {0, 0, 16});
  kernel.key_visit = one_of(random, {KeyVisit::position, KeyVisit::slot});
  kernel.traversal =
      one_of<std::string>(random, {"auto", "head_major", "sawtooth", "hilbert", "longest_first"});
  const bool packed = algorithm == RingAlgorithm::ring_packed ||
                      algorithm == RingAlgorithm::allgather_packed ||
                      algorithm == RingAlgorithm::hierarchical_packed;
  variant.ring.order_span = packed ? OrderSpan::shard : one_of(random, {OrderSpan::shard, OrderSpan::global});
  if (variant.ring.order_span == OrderSpan::shard)
    kernel.order_tensors = one_of(random, {OrderTensors::kv, OrderTensors::qkv});
  return variant;
}

inline std::string described(const Case& work, const Variant& variant) {
  return case_id(work) + " " + variant_id(variant) + " algorithm " +
         std::to_string(static_cast<int>(variant.ring.algorithm)) + " sharding " +
         std::to_string(static_cast<int>(variant.ring.sharding)) + " span " +
         std::to_string(static_cast<int>(variant.ring.order_span));
}

}  // namespace hilbench
