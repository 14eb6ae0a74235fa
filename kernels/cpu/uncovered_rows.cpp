#include "kernels/cpu/uncovered_rows.hpp"

#include <algorithm>
#include <limits>

#include "kernels/case/pattern.hpp"
#include "kernels/cpu/dilated_tile.hpp"

namespace hilbench {
namespace {

// Outputs of at least this size are cleared without filling the caches, which could not keep them.
constexpr std::int64_t kStreamedBytes = std::int64_t{8} << 20;

}  // namespace

UncoveredRows::UncoveredRows(const Case& work) : work_(work) {
  // Offsets rise with the heads, or with the branches.
  const std::int64_t offsets = std::max(work.kv_heads, std::ssize(work.pattern));
  for (const Branch& branch : work.pattern)
    first_heads_.emplace_back(static_cast<std::size_t>(std::min(branch.dilation, offsets)));
  for (std::int64_t head = 0; head < work.heads; ++head) {
    const std::size_t first = first_branch(work, head);
    const Branch& branch = work.pattern[first];
    const std::int64_t offset = offset_of(work, first, kv_head_of(work, head));
    first_heads_[first][static_cast<std::size_t>(offset)].push_back(head);
    any_ = any_ || (branch.dilation > 1 && work.queries != Queries::dense);
  }
}

void UncoveredRows::covering_heads(std::int64_t position, std::vector<std::int64_t>& heads) const {
  heads.clear();
  for (std::size_t b = 0; b < first_heads_.size(); ++b) {
    const Branch& branch = work_.pattern[b];
    const auto offset = static_cast<std::size_t>(position % branch.segment_length % branch.dilation);
    if (offset >= first_heads_[b].size()) continue;
    heads.insert(heads.end(), first_heads_[b][offset].begin(), first_heads_[b][offset].end());
  }
  if (first_heads_.size() > 1) std::ranges::sort(heads);
}

void UncoveredRows::clear(void* o, Dtype o_dtype, float* lse, int threads) const {
  if (!any_) return;
  const std::int64_t rows = work_.batch * work_.sequence_length;
  const std::int64_t head_bytes = work_.head_dim * dtype_bytes(o_dtype);
  const Clearing clearing =
      rows * work_.heads * head_bytes >= kStreamedBytes ? Clearing::past_caches : Clearing::cached;
  const auto clear_heads = [&](std::int64_t begin, std::int64_t end) {
    hilbench::clear(static_cast<std::byte*>(o) + begin * head_bytes,
                    static_cast<std::size_t>((end - begin) * head_bytes), clearing);
    std::fill(lse + begin, lse + end, -std::numeric_limits<float>::infinity());
  };
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int part = 0; part < threads; ++part) {
    for_each(rows * part / threads, rows * (part + 1) / threads, clear_heads);
    finish_clearing(clearing);
  }
}

}  // namespace hilbench
