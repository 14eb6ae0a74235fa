// The mathematics of a pattern: which positions a branch selects, and how many query-key pairs that makes.
// LongNet (arXiv 2307.02486), Eqs. 6-8 for segments and dilation, Eq. 13 for the offset of a head.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/case/case.hpp"

namespace hilbench {

// K/V head that query head `head` reads: floor(head * kv_heads / heads).
std::int64_t kv_head_of(const Case& work, std::int64_t head);

// Offset o of a K/V head's stream in a branch: 0 <= o < dilation.
std::int64_t offset_of(const Case& work, const Branch& branch, std::int64_t kv_head);

// Whether query head `head` runs branch `branch_index` (`branch_heads: partition` gives it just one).
bool head_runs_branch(const Case& work, std::int64_t head, std::int64_t branch_index);

// The first branch that a head runs: its result is stored, those of the others merge into it.
std::size_t first_branch(const Case& work, std::int64_t head);

std::int64_t segment_count(const Case& work, const Branch& branch);
std::int64_t segment_begin(const Branch& branch, std::int64_t segment);
// One past the last position of the segment: a short last segment ends with the sequence.
std::int64_t segment_end(const Case& work, const Branch& branch, std::int64_t segment);

// Selected positions of a stretch of `length` positions for offset o: o, o + r, ... < length.
std::int64_t selected_count(std::int64_t length, std::int64_t offset, std::int64_t dilation);

// Query rows of such a stretch: the selected ones, or all of them with dense queries.
std::int64_t query_count(const Case& work, std::int64_t length, std::int64_t offset, std::int64_t dilation);

// Totals over batch, heads, branches and segments, counted from what is really selected and unmasked.
struct PatternCounts {
  double pairs = 0;         // unmasked (query, key) pairs
  double query_rows = 0;    // (query row, branch) incidences with at least one key
  double kv_rows = 0;       // distinct (batch, kv head, position) rows of K (and as many of V) that are read
  double covered_rows = 0;  // distinct (batch, head, position) rows of O that some branch covers
};
// Closed form per segment; full segments are counted once. Doubles, because 2^40 x 2^40 pairs pass 2^63;
// exact below 2^53, with two exceptions. The distinct counts are exact where every dilation divides its
// segment, and where segment borders repeat after, or come to, 256; else they are the upper
// bound min(N, sum over branches). Above 4096 K/V heads, blocks of neighbouring heads count as if they shared
// their offsets. Expects kv_heads resolved, and sizes of at least 1.
PatternCounts count_work(const Case& work);

// 4 * head_dim per pair forward; backward 2.5 times that.
double flops(const Case& work);
double flops(const Case& work, const PatternCounts& counted);

// Bytes that any implementation must move: selected K, V rows and covered Q rows read once, O and LSE
// written.
double min_bytes(const Case& work);
double min_bytes(const Case& work, const PatternCounts& counted);

}  // namespace hilbench
