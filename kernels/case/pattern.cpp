#include "kernels/case/pattern.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/case/coverage.hpp"
#include "kernels/case/mask_blocks.hpp"
#include "kernels/case/windows.hpp"

namespace hilbench {
namespace {

__extension__ typedef __int128 Wide;  // products of two sizes pass 2^63

// With more K/V heads than this, heads are counted in blocks that share one offset (see count_work).
constexpr std::int64_t kMaxHeadBlocks = 4096;

std::int64_t ceil_div(Wide a, std::int64_t b) {
  return static_cast<std::int64_t>((a + b - 1) / b);
}

struct Range {
  std::int64_t begin = 0, end = 0;
};
std::int64_t overlap(const Range& a, const Range& b) {
  return std::max<std::int64_t>(0, std::min(a.end, b.end) - std::max(a.begin, b.begin));
}

// Pairs and query rows of one head in one branch.
struct HeadWork {
  double pairs = 0, query_rows = 0;
};
HeadWork segment_work(const Case& work, std::int64_t length, std::int64_t offset, std::int64_t dilation) {
  const std::int64_t selected = selected_count(length, offset, dilation);
  if (selected == 0) return {};
  const auto keys = static_cast<double>(selected);
  const bool causal = work.mask == Mask::causal;
  if (work.queries == Queries::dilated) return {causal ? keys * (keys + 1) / 2 : keys * keys, keys};
  if (!causal) return {keys * static_cast<double>(length), static_cast<double>(length)};
  // Key j, at offset + j * dilation, is seen by every query from there to the segment's end.
  const auto open = static_cast<double>(length - offset);
  return {keys * open - static_cast<double>(dilation) * keys * (keys - 1) / 2, open};
}

HeadWork branch_work(const Case& work, const Branch& branch, std::int64_t offset) {
  const auto full = static_cast<double>(work.sequence_length / branch.segment_length);
  const HeadWork each = segment_work(work, branch.segment_length, offset, branch.dilation);
  const HeadWork last =
      segment_work(work, work.sequence_length % branch.segment_length, offset, branch.dilation);
  return {full * each.pairs + last.pairs, full * each.query_rows + last.query_rows};
}

// Number of rows of a head whose dense queries see a key in a branch. `covers`: the keys of each branch.
std::int64_t dense_covered_count(const Case& work, const std::vector<Cover>& keys) {
  const std::int64_t n = work.sequence_length;
  std::vector<Cover> queries = keys;
  std::int64_t covered = 0;
  for (Cover& cover : queries) {
    cover.from_offset = true;
    const std::int64_t last = n % cover.segment_length;  // has no key if it is too short
    covered = std::max(covered, last > cover.offset ? n : n - last);
  }
  return work.mask == Mask::full ? covered : distinct_count(queries, n);
}

// Query heads that read K/V heads [begin, end).
Range query_heads(const Case& work, std::int64_t begin, std::int64_t end) {
  return {ceil_div(Wide{begin} * work.heads, work.kv_heads), ceil_div(Wide{end} * work.heads, work.kv_heads)};
}

// Query heads that run a branch.
Range branch_heads(const Case& work, std::int64_t branch_index) {
  if (work.branch_heads == BranchHeads::all) return {0, work.heads};
  const auto branches = static_cast<std::int64_t>(work.pattern.size());
  return {ceil_div(Wide{branch_index} * work.heads, branches),
          ceil_div(Wide{branch_index + 1} * work.heads, branches)};
}

// Distinct rows of one K/V head and of one query head, for the branches in `runs`.
struct Distinct {
  std::vector<std::int64_t> offsets;  // of each branch in this count; -1: the branch does not run
  double kv_rows = 0, covered_rows = 0;
};
Distinct distinct_rows(const Case& work, std::vector<std::int64_t> offsets) {
  std::vector<Cover> covers;
  for (std::size_t b = 0; b < offsets.size(); ++b)
    if (offsets[b] >= 0)
      covers.push_back({work.pattern[b].segment_length, work.pattern[b].dilation, offsets[b], false});
  const std::int64_t keys = distinct_count(covers, work.sequence_length);
  const std::int64_t queries = work.queries == Queries::dilated ? keys : dense_covered_count(work, covers);
  return {std::move(offsets), static_cast<double>(keys), static_cast<double>(queries)};
}

// Whether to count the distinct rows, which takes longer than everything else.
enum class DistinctRows { counted, left_out };

PatternCounts counted_mask(const Case& work) {
  const MaskCounts counts = count_mask(work);
  const auto batch = static_cast<double>(work.batch), heads = static_cast<double>(work.heads);
  const double query_rows = batch * heads * counts.query_rows;
  return {batch * heads * counts.pairs, query_rows,
          batch * static_cast<double>(work.kv_heads) * counts.kv_rows, query_rows};
}

// Every position sees itself, so all rows are read and written.
PatternCounts counted_windows(const Case& work) {
  const double rows = static_cast<double>(work.batch) * static_cast<double>(work.sequence_length);
  const double query_rows = rows * static_cast<double>(work.heads);
  return {static_cast<double>(work.batch) * static_cast<double>(work.heads) * window_pairs(work), query_rows,
          rows * static_cast<double>(work.kv_heads), query_rows};
}

PatternCounts counted_work(const Case& work, DistinctRows distinct) {
  if (has_mask_blocks(work)) return counted_mask(work);
  if (has_windows(work)) return counted_windows(work);
  PatternCounts total;
  std::vector<Distinct> known;
  const std::int64_t block = ceil_div(work.kv_heads, kMaxHeadBlocks);
  for (std::int64_t first = 0; first < work.kv_heads; first += block) {
    const std::int64_t last = std::min(first + block, work.kv_heads);
    const Range heads = query_heads(work, first, last);
    std::vector<std::int64_t> offsets(work.pattern.size(), -1);
    for (std::size_t b = 0; b < work.pattern.size(); ++b) {
      const Branch& branch = work.pattern[b];
      const std::int64_t runs = overlap(heads, branch_heads(work, static_cast<std::int64_t>(b)));
      if (runs == 0) continue;
      offsets[b] = offset_of(work, b, first);
      const HeadWork one = branch_work(work, branch, offsets[b]);
      total.pairs += static_cast<double>(runs) * one.pairs;
      total.query_rows += static_cast<double>(runs) * one.query_rows;
      if (work.branch_heads == BranchHeads::partition)
        total.covered_rows += static_cast<double>(runs) * one.query_rows;
    }
    if (distinct == DistinctRows::left_out) continue;
    auto seen = std::find_if(known.begin(), known.end(), [&](const auto& d) { return d.offsets == offsets; });
    if (seen == known.end()) seen = known.insert(known.end(), distinct_rows(work, offsets));
    total.kv_rows += static_cast<double>(last - first) * seen->kv_rows;
    if (work.branch_heads == BranchHeads::all)
      total.covered_rows += static_cast<double>(heads.end - heads.begin) * seen->covered_rows;
  }
  const auto batch = static_cast<double>(work.batch);
  return {total.pairs * batch, total.query_rows * batch, total.kv_rows * batch, total.covered_rows * batch};
}

}  // namespace

std::int64_t kv_head_of(const Case& work, std::int64_t head) {
  return static_cast<std::int64_t>(Wide{head} * work.kv_heads / work.heads);
}

std::int64_t offset_of(const Case& work, std::size_t branch, std::int64_t kv_head) {
  const std::int64_t dilation = work.pattern[branch].dilation;
  switch (work.head_offset) {
    case HeadOffset::modulo:
      return kv_head % dilation;
    case HeadOffset::contiguous:
      return kv_head / ceil_div(work.kv_heads, dilation);
    case HeadOffset::branch:
      return static_cast<std::int64_t>(branch) % dilation;
    case HeadOffset::none:
      break;
  }
  return 0;
}

bool head_runs_branch(const Case& work, std::int64_t head, std::int64_t branch_index) {
  const Range heads = branch_heads(work, branch_index);
  return heads.begin <= head && head < heads.end;
}

std::size_t first_branch(const Case& work, std::int64_t head) {
  std::int64_t branch = 0;
  while (!head_runs_branch(work, head, branch)) ++branch;
  return static_cast<std::size_t>(branch);
}

std::int64_t segment_count(const Case& work, const Branch& branch) {
  return ceil_div(work.sequence_length, branch.segment_length);
}

std::int64_t segment_begin(const Branch& branch, std::int64_t segment) {
  return segment * branch.segment_length;
}

std::int64_t segment_end(const Case& work, const Branch& branch, std::int64_t segment) {
  return std::min(segment_begin(branch, segment) + branch.segment_length, work.sequence_length);
}

std::int64_t selected_count(std::int64_t length, std::int64_t offset, std::int64_t dilation) {
  return length <= offset ? 0 : (length - offset - 1) / dilation + 1;
}

std::int64_t query_count(const Case& work, std::int64_t length, std::int64_t offset, std::int64_t dilation) {
  return work.queries == Queries::dense ? length : selected_count(length, offset, dilation);
}

Dropout dropout_of(const Case& work) {
  const auto kept = static_cast<std::uint32_t>(std::lround(256 * (1 - work.dropout)));
  const auto seed = static_cast<std::uint64_t>(work.dropout_seed);
  Dropout dropout{.threshold = std::max<std::uint32_t>(kept, 1),
                  .key_0 = static_cast<std::uint32_t>(seed),
                  .key_1 = static_cast<std::uint32_t>(seed >> 32)};
  dropout.scale = 256 / static_cast<float>(dropout.threshold);
  return dropout;
}

DropoutStream dropout_stream(const Case& work, std::int64_t batch, std::int64_t head,
                             std::int64_t branch_index, std::int64_t segment) {
  const std::int64_t row = batch * work.heads + head;
  return {static_cast<std::uint32_t>(segment),
          static_cast<std::uint32_t>(row * std::ssize(work.pattern) + branch_index)};
}

std::int64_t query_ordinal(const Case& work, std::int64_t branch_index, std::int64_t position) {
  const Branch& branch = work.pattern[static_cast<std::size_t>(branch_index)];
  return position % branch.segment_length / (work.queries == Queries::dense ? 1 : branch.dilation);
}

std::int64_t key_ordinal(const Case& work, std::int64_t branch_index, std::int64_t position) {
  const Branch& branch = work.pattern[static_cast<std::size_t>(branch_index)];
  return position % branch.segment_length / branch.dilation;
}

float kept_factor(const Case& work, std::int64_t batch, std::int64_t head, std::int64_t branch_index,
                  std::int64_t query, std::int64_t key) {
  if (work.dropout == 0) return 1;
  const Dropout dropout = dropout_of(work);
  const std::int64_t length = work.pattern[static_cast<std::size_t>(branch_index)].segment_length;
  const bool kept = keeps_pair(dropout, dropout_stream(work, batch, head, branch_index, query / length),
                               static_cast<std::uint32_t>(query_ordinal(work, branch_index, query)),
                               static_cast<std::uint32_t>(key_ordinal(work, branch_index, key)));
  return kept ? dropout.scale : 0;
}

std::vector<float> kept_factors(const Case& work, std::int64_t batch, std::int64_t head,
                                std::int64_t branch_index, std::int64_t query,
                                std::span<const std::int64_t> keys) {
  std::vector<float> factors;
  for (const std::int64_t key : keys)
    factors.push_back(kept_factor(work, batch, head, branch_index, query, key));
  return factors;
}

PatternCounts count_work(const Case& work) {
  return counted_work(work, DistinctRows::counted);
}

double flops(const Case& work) {
  return flops(work, counted_work(work, DistinctRows::left_out));
}

double flops(const Case& work, const PatternCounts& counted) {
  const double of_pair = work.pass == Pass::forward ? 4 : work.pass == Pass::backward ? 10 : 14;
  return of_pair * static_cast<double>(work.head_dim) * counted.pairs;
}

double min_bytes(const Case& work) {
  return min_bytes(work, count_work(work));
}

double min_bytes(const Case& work, const PatternCounts& counted) {
  const auto heads = static_cast<double>(work.batch) * static_cast<double>(work.heads);
  const double rows = heads * static_cast<double>(work.sequence_length);
  const double row_bytes = static_cast<double>(work.head_dim) * static_cast<double>(dtype_bytes(work.dtype));
  const double kv_rows = static_cast<double>(work.batch) * static_cast<double>(work.kv_heads) *
                         static_cast<double>(work.sequence_length);
  if (work.pass == Pass::forward)
    return (2 * counted.kv_rows + counted.covered_rows + rows) * row_bytes + 4 * rows;
  const double gradients = (rows + 2 * kv_rows) * row_bytes, keys = 2 * counted.kv_rows * row_bytes;
  if (work.pass == Pass::backward)  // reads Q, dO, O and LSE where they are covered
    return counted.covered_rows * (3 * row_bytes + 4) + keys + gradients;
  return 2 * counted.covered_rows * row_bytes + keys + rows * (row_bytes + 4) + gradients;
}

}  // namespace hilbench
