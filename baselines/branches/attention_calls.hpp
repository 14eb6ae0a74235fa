// A branch of a case as calls of a library that knows batched attention (or matrix products) on strided rows:
// a dilated stream of a head is a matrix whose leading dimension is dilation * heads * head_dim, so nothing
// has to be moved. Pure arithmetic, no device.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/case/case.hpp"

namespace hilbench {

// Rows of a tensor in units of one row, which is head_dim elements: row (outer i, head h, index j) stands at
// first + i * outer + h * head + j * row.
struct RowStrides {
  std::int64_t first = 0, outer = 0, head = 0, row = 0;
  bool operator==(const RowStrides&) const = default;
};

// `outer` independent problems (segments and batch entries) of `heads` heads; head h reads K/V head
// h / (heads / kv_heads), and heads is a multiple of kv_heads. O is laid out as q; LSE too, with rows of one.
struct AttentionCall {
  std::int64_t outer = 0, heads = 0, kv_heads = 0;
  std::int64_t queries = 0, keys = 0;
  RowStrides q, kv;
  bool operator==(const AttentionCall&) const = default;
};

// Where the selected rows of a branch stand.
enum class RowStorage {
  in_place,  // [batch, sequence, heads]
  gathered,  // [batch, segments, gathered_rows, heads]; with dense queries Q, O and LSE stay in place
};

// Rows of a gathered segment: those that offset 0 selects, since no offset has more.
std::int64_t gathered_rows(const Case& work, const Branch& branch);

// Few calls that cover every query of the branch with at least one key, each once. Under a causal mask query
// j of a call sees its keys 0 .. j: so not for a causal mask with dense queries and a dilation above 1.
std::vector<AttentionCall> attention_calls(const Case& work, std::int64_t branch_index, RowStorage storage);

}  // namespace hilbench
