// Random cases with every option of a pattern.
#pragma once

#include "tests/kernels/attention_problem.hpp"

namespace hilbench {

// Of up to `longest` positions; fp32 or bf16, on the CPU.
inline Case random_case(Random& random, std::int64_t longest) {
  Case work{.sequence_length = between(random, 1, longest),
            .pattern = {},
            .batch = between(random, 1, 2),
            .heads = between(random, 1, 5),
            .head_dim = one_of<std::int64_t>(random, {16, 32, 64, 80, between(random, 1, 100)}),
            .dtype = one_of(random, {Dtype::fp32, Dtype::bf16}),
            .mask = one_of(random, {Mask::full, Mask::causal}),
            .queries = one_of(random, {Queries::dilated, Queries::dilated, Queries::dense}),
            .head_offset = one_of(
                random, {HeadOffset::modulo, HeadOffset::contiguous, HeadOffset::none, HeadOffset::branch}),
            .branch_heads = one_of(random, {BranchHeads::all, BranchHeads::all, BranchHeads::partition}),
            .device = DeviceKind::cpu};
  work.kv_heads = one_of(random, {work.heads, between(random, 1, work.heads)});
  for (std::int64_t branches = between(random, 1, 3); branches > 0; --branches) {
    const std::int64_t w = between(random, 1, 2 * work.sequence_length);
    work.pattern.push_back({w, one_of(random, {std::int64_t{1}, between(random, 1, w),
                                               std::min<std::int64_t>(w, between(random, 1, 8))})});
  }
  return work;
}

}  // namespace hilbench
