#include "baselines/cublas/score_blocks.hpp"

#include <algorithm>
#include <vector>

#include "kernels/case/pattern.hpp"

namespace hilbench {
namespace {

constexpr std::int64_t kMinRows = 128;     // fewest query rows of a block
constexpr std::int64_t kCausalBlocks = 8;  // of a causal triangle: 1/16 of its products is masked

// Query rows and problems of a block of scores.
struct BlockShape {
  std::int64_t rows = 0, problems = 0;
};
BlockShape block_shape(const AttentionCall& call, std::int64_t problems, const Case& work,
                       std::int64_t score_bytes) {
  const std::int64_t in_budget = kScoreBytes / (leading_of(call.keys, work.dtype) * score_bytes);
  std::int64_t rows = call.queries;
  if (work.mask == Mask::causal)
    rows = std::min(rows, (call.queries / kCausalBlocks / kMinRows + 1) * kMinRows);
  if (in_budget >= rows) return {rows, std::min(problems, in_budget / rows)};
  return {std::min(rows, std::max(kMinRows, in_budget / kMinRows * kMinRows)), 1};
}

// The larger of a call's two dimensions becomes the batch of the products, the other one a loop.
bool batch_is_outer(const AttentionCall& call) {
  return call.outer >= call.kv_heads;
}

std::vector<Batch> batches_of(const AttentionCall& call) {
  const std::int64_t members = call.heads / call.kv_heads;
  std::vector<Batch> batches;
  const auto add = [&](std::int64_t outer, std::int64_t head) {
    Batch batch{.q = call.q.first + outer * call.q.outer + head * call.q.head,
                .kv = call.kv.first + outer * call.kv.outer + head / members * call.kv.head,
                .q_row = call.q.row,
                .kv_row = call.kv.row,
                .queries = call.queries,
                .keys = call.keys};
    const bool outer_batch = batch_is_outer(call);
    batch.count = outer_batch ? call.outer : call.kv_heads;
    batch.q_step = outer_batch ? call.q.outer : call.q.head * members;
    batch.kv_step = outer_batch ? call.kv.outer : call.kv.head;
    batches.push_back(batch);
  };
  if (batch_is_outer(call))
    for (std::int64_t head = 0; head < call.heads; ++head) add(0, head);
  else
    for (std::int64_t outer = 0; outer < call.outer; ++outer)
      for (std::int64_t member = 0; member < members; ++member) add(outer, member);
  return batches;
}

}  // namespace

std::int64_t leading_of(std::int64_t keys, Dtype dtype) {
  const std::int64_t step = 16 / dtype_bytes(dtype);
  return (keys + step - 1) / step * step;
}

double largest_block_bytes(const Case& work, std::int64_t score_bytes) {
  double most = 0;
  for (const Branch& branch : work.pattern) {
    const std::int64_t keys = gathered_rows(work, branch);
    const auto queries = static_cast<double>(
        work.queries == Queries::dense ? std::min(branch.segment_length, work.sequence_length) : keys);
    const double row = static_cast<double>(leading_of(keys, work.dtype) * score_bytes);
    const double problems =
        std::max(static_cast<double>(work.batch) * static_cast<double>(segment_count(work, branch)),
                 static_cast<double>(work.kv_heads));
    const double block =
        std::max(static_cast<double>(kScoreBytes), std::min(queries, static_cast<double>(kMinRows)) * row);
    most = std::max(most, std::min(problems * queries * row, block));
  }
  return most;
}

void for_each_block(const AttentionCall& call, const Case& work, std::int64_t score_bytes,
                    const std::function<void(const Batch&, std::int64_t)>& body) {
  const std::int64_t problems = batch_is_outer(call) ? call.outer : call.kv_heads;
  const BlockShape block = block_shape(call, problems, work, score_bytes);
  for (const Batch& batch : batches_of(call))
    for (std::int64_t problem = 0; problem < batch.count; problem += block.problems)
      for (std::int64_t row = 0; row < batch.queries; row += block.rows) {
        Batch part = batch;
        part.count = std::min(block.problems, batch.count - problem);
        part.q += problem * batch.q_step + row * batch.q_row;
        part.kv += problem * batch.kv_step;
        part.queries = std::min(block.rows, batch.queries - row);
        if (work.mask == Mask::causal) part.keys = std::min(batch.keys, row + part.queries);
        body(part, row);
      }
}

}  // namespace hilbench
