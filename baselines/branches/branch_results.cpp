#include "baselines/branches/branch_results.hpp"

#include <algorithm>

#include "kernels/case/pattern.hpp"

namespace hilbench::cuda {
namespace {

std::int32_t narrowed(std::int64_t value) {
  return static_cast<std::int32_t>(value);
}

// Offset of the stream that each query head reads in a branch; -1 if the head does not run the branch.
std::vector<std::int32_t> query_offsets(const Case& work, std::size_t branch) {
  std::vector<std::int32_t> offsets;
  for (std::int64_t head = 0; head < work.heads; ++head)
    offsets.push_back(head_runs_branch(work, head, static_cast<std::int64_t>(branch))
                          ? narrowed(offset_of(work, branch, kv_head_of(work, head)))
                          : -1);
  return offsets;
}

// The same for each K/V head; -1 if none of its query heads runs the branch.
std::vector<std::int32_t> key_offsets(const Case& work, std::size_t branch) {
  const std::vector<std::int32_t> of_queries = query_offsets(work, branch);
  std::vector<std::int32_t> offsets(static_cast<std::size_t>(work.kv_heads), -1);
  for (std::int64_t head = 0; head < work.heads; ++head) {
    std::int32_t& offset = offsets[static_cast<std::size_t>(kv_head_of(work, head))];
    offset = std::max(offset, of_queries[static_cast<std::size_t>(head)]);
  }
  return offsets;
}

BranchRows rows_of(const Case& work, const Branch& branch, bool dense, const std::int32_t* offsets) {
  BranchRows rows;
  rows.segment_length = narrowed(std::min(branch.segment_length, work.sequence_length));
  rows.dilation = narrowed(branch.dilation);
  rows.dense = dense ? 1 : 0;
  rows.segments = narrowed(segment_count(work, branch));
  rows.rows = narrowed(gathered_rows(work, branch));
  rows.offsets = offsets;
  return rows;
}

bool combined(const Case& work, const std::vector<RowStorage>& storage) {
  return work.pattern.size() > 1 || (storage[0] == RowStorage::gathered && work.queries == Queries::dilated);
}

// Rows of O and of LSE for which a branch needs a buffer. Doubles, because a plan asks for sizes whose
// products exceed 2^63.
struct BufferRows {
  double o = 0, lse = 0;
};
BufferRows buffer_rows(const Case& work, const std::vector<RowStorage>& storage, std::size_t branch) {
  if (!combined(work, storage)) return {};
  const double heads = static_cast<double>(work.batch) * static_cast<double>(work.heads);
  if (storage[branch] == RowStorage::gathered && work.queries == Queries::dilated) {
    const Branch& of = work.pattern[branch];
    const double rows =
        heads * static_cast<double>(segment_count(work, of)) * static_cast<double>(gathered_rows(work, of));
    return {rows, rows};
  }
  const double rows = heads * static_cast<double>(work.sequence_length);
  return {branch == 0 ? 0 : rows, rows};  // the first branch uses the operands' o
}

double row_bytes(const Case& work) {
  return static_cast<double>(work.head_dim * dtype_bytes(work.dtype));
}

}  // namespace

BranchResults::BranchResults(const Case& work, std::vector<RowStorage> storage)
    : combined_(combined(work, storage)), branches_(work.pattern.size()) {
  tensor_.batch = narrowed(work.batch);
  tensor_.sequence = narrowed(work.sequence_length);
  tensor_.heads = narrowed(work.heads);
  tensor_.head_dim = narrowed(work.head_dim);
  tensor_.dtype = work.dtype;
  complete_ =
      count_work(work).covered_rows == static_cast<double>(work.batch * work.sequence_length * work.heads);
  const bool dense = work.queries == Queries::dense;
  for (std::size_t b = 0; b < branches_.size(); ++b) {
    BranchState& state = branches_[b];
    state.query_offsets = DeviceMemory<std::int32_t>(query_offsets(work, b));
    state.key_offsets = DeviceMemory<std::int32_t>(key_offsets(work, b));
    state.query_rows = rows_of(work, work.pattern[b], dense, state.query_offsets.data());
    state.key_rows = rows_of(work, work.pattern[b], false, state.key_offsets.data());
    state.gathered = storage[b] == RowStorage::gathered && !dense;
    const BufferRows rows = buffer_rows(work, storage, b);
    state.o = DeviceMemory<std::byte>(static_cast<std::size_t>(rows.o * row_bytes(work)));
    state.lse = DeviceMemory<float>(static_cast<std::size_t>(rows.lse));
  }
}

void* BranchResults::o(std::size_t branch, const Operands& operands) const {
  return branches_[branch].o.size() > 0 ? branches_[branch].o.data() : operands.o;
}

float* BranchResults::lse(std::size_t branch, const Operands& operands) const {
  return combined_ ? branches_[branch].lse.data() : operands.lse;
}

void BranchResults::finish(const Operands& operands, cudaStream_t stream) const {
  if (!combined_) {
    if (!complete_) clear_uncovered_rows(tensor_, branches_[0].query_rows, operands.o, operands.lse, stream);
    return;
  }
  BranchOutputs outputs;
  for (std::size_t b = 0; b < branches_.size(); ++b)
    outputs.at[outputs.count++] = {branches_[b].query_rows, branches_[b].gathered ? 1 : 0, o(b, operands),
                                   lse(b, operands)};
  combine_branches(tensor_, outputs, operands.o, operands.lse, stream);
}

double BranchResults::workspace_bytes(const Case& work, const std::vector<RowStorage>& storage) {
  double bytes = 4 * static_cast<double>(work.heads + work.kv_heads) * static_cast<double>(storage.size());
  for (std::size_t b = 0; b < storage.size(); ++b) {
    const BufferRows rows = buffer_rows(work, storage, b);
    bytes += rows.o * row_bytes(work) + 4 * rows.lse;
  }
  return bytes;
}

}  // namespace hilbench::cuda
