// Buffers for the results of the branches of a CUDA baseline, and their combination into O and LSE.
#pragma once

#include <cstdint>
#include <vector>

#include "baselines/branches/attention_calls.hpp"
#include "baselines/branches/branch_rows.hpp"
#include "kernels/case/case.hpp"
#include "kernels/cuda/runtime/device_memory.hpp"
#include "kernels/cuda/shared/forward_execution.hpp"
#include "kernels/implementation.hpp"

namespace hilbench::cuda {

// A single branch in position order is written directly to the operands, and only the rows that it does
// not cover are cleared. Several branches, and gathered ones, have their own buffers, from which O and
// LSE are combined.
class BranchResults {
 public:
  // storage[i]: whether branch i is gathered or in place.
  BranchResults(const Case& work, std::vector<RowStorage> storage);

  // Where the calls of a branch write.
  void* o(std::size_t branch, const Operands& operands) const;
  float* lse(std::size_t branch, const Operands& operands) const;
  // The selected rows of a branch for the query heads and for the K/V heads, for gather_rows.
  const BranchRows& query_rows(std::size_t branch) const { return branches_[branch].query_rows; }
  const BranchRows& key_rows(std::size_t branch) const { return branches_[branch].key_rows; }
  // Enqueues the work that completes the operands' o and lse.
  void finish(const Operands& operands, cudaStream_t stream) const;

  static double workspace_bytes(const Case& work, const std::vector<RowStorage>& storage);

 private:
  struct BranchState {
    DeviceMemory<std::int32_t> query_offsets, key_offsets;
    BranchRows query_rows, key_rows;
    bool gathered = false;  // O and LSE are gathered
    DeviceMemory<std::byte> o;
    DeviceMemory<float> lse;
  };

  RowTensor tensor_;
  bool combined_ = false;
  bool complete_ = false;  // the only branch covers every row
  std::vector<BranchState> branches_;
};

}  // namespace hilbench::cuda
