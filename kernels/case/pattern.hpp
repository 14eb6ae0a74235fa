// The mathematics of a pattern: which positions a branch selects, and how many query-key pairs result.
// LongNet (arXiv 2307.02486), Eqs. 6-8 for segments and dilation, Eq. 13 for the offset of a head.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/case/case.hpp"
#include "kernels/case/dropout.hpp"

namespace hilbench {

// K/V head that query head `head` reads: floor(head * kv_heads / heads).
std::int64_t kv_head_of(const Case& work, std::int64_t head);

// Offset o of a K/V head's stream in branch number `branch`: 0 <= o < dilation.
std::int64_t offset_of(const Case& work, std::size_t branch, std::int64_t kv_head);

// True if query head `head` runs branch `branch_index`. With `branch_heads: partition` a head runs only one.
bool head_runs_branch(const Case& work, std::int64_t head, std::int64_t branch_index);

// The first branch that a head runs. Its result is stored; the results of the others are merged into it.
std::size_t first_branch(const Case& work, std::int64_t head);

std::int64_t segment_count(const Case& work, const Branch& branch);
std::int64_t segment_begin(const Branch& branch, std::int64_t segment);
// One past the last position of the segment. A short last segment ends with the sequence.
std::int64_t segment_end(const Case& work, const Branch& branch, std::int64_t segment);

// Number of selected positions in a stretch of `length` positions, for offset o and dilation r: o, o + r,
// ... below length.
std::int64_t selected_count(std::int64_t length, std::int64_t offset, std::int64_t dilation);

// Number of query rows in such a stretch: the selected positions, or all positions with dense queries.
std::int64_t query_count(const Case& work, std::int64_t length, std::int64_t offset, std::int64_t dilation);

// Dropout of a case, of one of its (batch entry, head, branch, segment), and of a query or key: its number in
// its segment, among the queries or the selected keys.
Dropout dropout_of(const Case& work);
DropoutStream dropout_stream(const Case& work, std::int64_t batch, std::int64_t head,
                             std::int64_t branch_index, std::int64_t segment);
std::int64_t query_ordinal(const Case& work, std::int64_t branch_index, std::int64_t position);
std::int64_t key_ordinal(const Case& work, std::int64_t branch_index, std::int64_t position);
// What the probability of a pair that the branch selects is multiplied with: 1 without dropout, else 0 or
// Dropout::scale.
float kept_factor(const Case& work, std::int64_t batch, std::int64_t head, std::int64_t branch_index,
                  std::int64_t query, std::int64_t key);
// The same of one query and several keys.
std::vector<float> kept_factors(const Case& work, std::int64_t batch, std::int64_t head,
                                std::int64_t branch_index, std::int64_t query,
                                std::span<const std::int64_t> keys);

// Totals over batch, heads, branches and segments. Only what is selected and not masked is counted.
struct PatternCounts {
  double pairs = 0;         // unmasked (query, key) pairs
  double query_rows = 0;    // (query row, branch) combinations with at least one key
  double kv_rows = 0;       // distinct (batch, kv head, position) rows of K that are read; V has as many
  double covered_rows = 0;  // distinct (batch, head, position) rows of O that a branch covers
};
// A closed form per segment; full segments are counted once. The counts are doubles because 2^40 x 2^40 pairs
// exceed 2^63. They are exact below 2^53, with two exceptions: the distinct counts are exact only if
// distinct_count is (kernels/case/coverage.hpp), else they are the upper bound min(N, sum over branches); and
// above 4096 K/V heads, blocks of neighbouring heads count as if they had the same offset. kv_heads must not
// be 0, and all sizes at least 1.
PatternCounts count_work(const Case& work);

// Floating-point operations for each pair: forward 4 * head_dim, backward 10 * head_dim, both 14 * head_dim.
double flops(const Case& work);
double flops(const Case& work, const PatternCounts& counted);

// Bytes that every implementation must move. Forward: the selected rows of K and V and the covered rows of Q
// are read once, O and LSE are written. Backward: the selected rows of K and V and the covered rows of Q, dO,
// O and LSE are read once, dQ, dK and dV are written. Both: Q, K, V and dO are read, everything else is
// written.
double min_bytes(const Case& work);
double min_bytes(const Case& work, const PatternCounts& counted);

}  // namespace hilbench
