// How the stored scores of an attention call are cut into blocks of a bounded size, and the products of a
// block into batches of cuBLAS. Pure arithmetic; needs no device.
#pragma once

#include <cstdint>
#include <functional>

#include "baselines/branches/attention_calls.hpp"

namespace hilbench {

constexpr std::int64_t kScoreBytes = std::int64_t{512} << 20;  // most bytes of one block

// Elements from one row of scores to the next. Rows of the dtype begin at multiples of 16 bytes.
std::int64_t leading_of(std::int64_t keys, Dtype dtype);

// Bytes of the largest block, with `score_bytes` for each score. A double, because a plan may ask for any
// size.
double largest_block_bytes(const Case& work, std::int64_t score_bytes);

// Problems that are a fixed distance apart in each tensor, in rows of head_dim elements as in RowStrides.
struct Batch {
  std::int64_t count = 0;
  std::int64_t q = 0, kv = 0;            // first rows
  std::int64_t q_step = 0, kv_step = 0;  // from problem to problem
  std::int64_t q_row = 0, kv_row = 0;    // from row to row
  std::int64_t queries = 0, keys = 0;
};

// Calls body(block, first_row) for the blocks of a call; first_row is the number of its first query. Under a
// causal mask a block has only the keys that its last query sees.
void for_each_block(const AttentionCall& call, const Case& work, std::int64_t score_bytes,
                    const std::function<void(const Batch&, std::int64_t)>& body);

}  // namespace hilbench
