#include "kernels/traversals/fastest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "kernels/case/pattern.hpp"

namespace hilbench {
namespace {

// Found by timing dilated_wgmma on an H200, whose L2 has 60 MB, at 2K to 64K positions, head_dim 64 and 128,
// grouped heads, batches and dilated branches. Half of the L2 holds K and V of all heads without loss; more
// are read again and again. Up to 16 sets of keys (a head's segments) in flight leave each to about 8 of the
// 132 blocks.
constexpr double kResidentBytes = 32 << 20;
constexpr double kGroupBytes = 64 << 20;
constexpr std::int64_t kKeySets = 16;

// K and V of one head that a branch reads.
double key_bytes(const Case& work, const Branch& branch) {
  const std::int64_t keys = selected_count(work.sequence_length, 0, branch.dilation);
  return 2.0 * static_cast<double>(keys) * static_cast<double>(work.head_dim) *
         (work.dtype == Dtype::fp32 ? 4 : 2);
}

}  // namespace

std::string to_string(const Traversal& traversal) {
  return traversal.param ? fmt::format("{}.{}", traversal.name, *traversal.param) : traversal.name;
}

Traversal fastest_traversal(const Case& work, const Branch& branch, CausalTraversal causal) {
  if (work.mask != Mask::causal || causal == CausalTraversal::head_major) return {"head_major", {}};
  const double bytes = key_bytes(work, branch);
  const auto all = static_cast<double>(work.batch * work.kv_heads);
  if (causal == CausalTraversal::longest_first || bytes * all <= kResidentBytes) return {"longest_first", {}};
  const std::int64_t by_sets = kKeySets / segment_count(work, branch);
  const auto by_bytes = static_cast<std::int64_t>(kGroupBytes / bytes);
  const auto kv_heads = static_cast<std::uint64_t>(std::max<std::int64_t>(1, std::min(by_sets, by_bytes)));
  const std::int64_t heads = static_cast<std::int64_t>(std::bit_floor(kv_heads)) *
                             (work.heads / std::max<std::int64_t>(1, work.kv_heads));
  if (heads >= work.batch * work.heads) return {"longest_first", {}};
  return {"longest_first", heads};
}

Traversal traversal_of(const Case& work, const Branch& branch, const KernelChoice& choice,
                       const TraversalFacts& facts) {
  if (choice.traversal == "auto") return fastest_traversal(work, branch, facts.causal);
  if (choice.traversal == "sawtooth")
    return {choice.traversal, choice.traversal_param.value_or(facts.at_once)};
  return {choice.traversal, choice.traversal_param};
}

bool chosen_by_program(const KernelChoice& choice) {
  return choice.traversal == "auto" || (choice.traversal == "sawtooth" && !choice.traversal_param);
}

}  // namespace hilbench
