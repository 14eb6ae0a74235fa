#include "harness/measure/mask_sums.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "kernels/case/mask_blocks.hpp"
#include "kernels/case/pattern.hpp"

namespace hilbench {
namespace {

using RowSums = std::vector<std::int32_t>;  // of the elements of a row of V

// The rows of V of one (batch, K/V head).
class Values {
 public:
  Values(const Case& work, const InputTensors& inputs, const std::vector<std::int32_t>& position_of,
         std::int64_t batch, std::int64_t kv_head)
      : work_(work), inputs_(inputs), position_of_(position_of), batch_(batch), kv_head_(kv_head) {}

  void add(std::int64_t first, std::int64_t end, RowSums& sums) const {
    std::vector<float> v(sums.size());
    for (std::int64_t slot = first; slot < end; ++slot) {
      const std::int64_t position =
          position_of_.empty() ? slot : position_of_[static_cast<std::size_t>(slot)];
      const std::int64_t row = (batch_ * work_.sequence_length + position) * work_.kv_heads + kv_head_;
      inputs_.read(Tensor::v, row * work_.head_dim, v);
      for (std::size_t e = 0; e < v.size(); ++e) sums[e] += static_cast<std::int32_t>(v[e]);
    }
  }

 private:
  const Case& work_;
  const InputTensors& inputs_;
  const std::vector<std::int32_t>& position_of_;
  std::int64_t batch_, kv_head_;
};

std::vector<RowSums> sums_of_blocks(const Case& work, const Values& values, int threads) {
  const std::int64_t block = work.mask_blocks.block, count = bits_of(work).blocks();
  std::vector<RowSums> sums(static_cast<std::size_t>(count),
                            RowSums(static_cast<std::size_t>(work.head_dim)));
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::int64_t b = 0; b < count; ++b)
    values.add(b * block, std::min((b + 1) * block, work.sequence_length), sums[static_cast<std::size_t>(b)]);
  return sums;
}

// A row of the probe, and the slot of its query.
struct ProbedQuery {
  std::int64_t slot = 0;
  std::size_t row = 0;
};

// The rows that one (batch, K/V head) serves, by their block of queries.
std::vector<std::vector<ProbedQuery>> queries_by_block(const Case& work, const KeyProbe& probe,
                                                       std::int64_t batch, std::int64_t kv_head) {
  std::map<std::int64_t, std::vector<ProbedQuery>> found;
  for (std::size_t i = 0; i < probe.rows.size(); ++i) {
    const RowId& row = probe.rows[i];
    if (row.batch != batch || kv_head_of(work, row.head) != kv_head) continue;
    const std::int64_t slot =
        probe.slots.empty() ? row.position : probe.slots[static_cast<std::size_t>(row.position)];
    found[slot / work.mask_blocks.block].push_back({slot, i});
  }
  std::vector<std::vector<ProbedQuery>> queries;
  for (auto& [block, of_block] : found) queries.push_back(std::move(of_block));
  return queries;
}

void write_sums(const RowSums& sums, std::size_t row, KeyProbe& probe) {
  for (std::size_t e = 0; e < sums.size(); ++e) {
    probe.sums[row * sums.size() + e] = static_cast<float>(sums[e]);
    probe.sizes[row * sums.size() + e] = static_cast<float>(std::abs(sums[e]));
  }
}

// All queries of one block. Under a causal mask each adds the keys of its own block up to its own.
void add_block(const Case& work, const Values& values, const std::vector<RowSums>& of_blocks,
               const std::vector<ProbedQuery>& queries, KeyProbe& probe) {
  const BlockBits& bits = bits_of(work);
  const bool causal = work.mask == Mask::causal;
  const std::int64_t own = queries.front().slot / work.mask_blocks.block;
  RowSums shared(static_cast<std::size_t>(work.head_dim));
  for (std::int64_t b = 0; b < (causal ? own : bits.blocks()); ++b)
    if (bits.selects(own, b))
      for (std::size_t e = 0; e < shared.size(); ++e) shared[e] += of_blocks[static_cast<std::size_t>(b)][e];
  for (const ProbedQuery& query : queries) {
    RowSums sums = shared;
    if (causal && bits.selects(own, own)) values.add(own * work.mask_blocks.block, query.slot + 1, sums);
    write_sums(sums, query.row, probe);
  }
}

}  // namespace

void add_mask_sums(const Case& work, const InputTensors& inputs, const std::vector<std::int32_t>& position_of,
                   int threads, KeyProbe& probe) {
  for (std::int64_t batch = 0; batch < work.batch; ++batch)
    for (std::int64_t kv_head = 0; kv_head < work.kv_heads; ++kv_head) {
      const Values values(work, inputs, position_of, batch, kv_head);
      const std::vector<RowSums> of_blocks = sums_of_blocks(work, values, threads);
      const auto queries = queries_by_block(work, probe, batch, kv_head);
      const std::int64_t count = std::ssize(queries);
#pragma omp parallel for num_threads(threads) schedule(dynamic)
      for (std::int64_t i = 0; i < count; ++i)
        add_block(work, values, of_blocks, queries[static_cast<std::size_t>(i)], probe);
    }
}

}  // namespace hilbench
