// A branch of a case as calls of a library for batched attention (or matrix products) on strided rows. A
// dilated stream of a head is a matrix whose leading dimension is dilation * heads * head_dim, so no data has
// to be moved. Pure arithmetic; needs no device.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/case/case.hpp"

namespace hilbench {

// Positions of rows in a tensor, in units of one row (head_dim elements): row (outer i, head h, index j) is
// at first + i * outer + h * head + j * row.
struct RowStrides {
  std::int64_t first = 0, outer = 0, head = 0, row = 0;
  bool operator==(const RowStrides&) const = default;
};

// `outer` independent problems (segments and batch entries) of `heads` heads each. Head h reads K/V head
// h / (heads / kv_heads); heads is a multiple of kv_heads. O has the layout of q; so has LSE, with rows
// of one element.
struct AttentionCall {
  std::int64_t outer = 0, heads = 0, kv_heads = 0;
  std::int64_t queries = 0, keys = 0;
  RowStrides q, kv;
  bool operator==(const AttentionCall&) const = default;
};

// Where the selected rows of a branch are stored.
enum class RowStorage {
  in_place,  // [batch, sequence, heads]
  gathered,  // [batch, segments, gathered_rows, heads]; with dense queries only K and V
};

// Rows of a gathered segment: as many as offset 0 selects, which is the most that any offset selects.
std::int64_t gathered_rows(const Case& work, const Branch& branch);

// As few calls as found that cover every query of the branch with at least one key exactly once. Under a
// causal mask query j of a call sees keys 0 to j of the call; therefore a causal mask with dense queries and
// a dilation above 1 is not supported.
std::vector<AttentionCall> attention_calls(const Case& work, std::int64_t branch_index, RowStorage storage);

}  // namespace hilbench
