// Where the branches of a CUDA baseline leave their results, and how these become O and LSE.
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

// One branch in position order is written straight to the operands and only what it does not cover is
// cleared; several branches, and gathered ones, are combined from buffers of their own.
class BranchResults {
 public:
  // storage[i]: where branch i stands gathered or in place.
  BranchResults(const Case& work, std::vector<RowStorage> storage);

  // Where the calls of a branch write.
  void* o(std::size_t branch, const Operands& operands) const;
  float* lse(std::size_t branch, const Operands& operands) const;
  // Selected rows of a branch as the query heads or the K/V heads see them, for gather_rows.
  const BranchRows& query_rows(std::size_t branch) const { return branches_[branch].query_rows; }
  const BranchRows& key_rows(std::size_t branch) const { return branches_[branch].key_rows; }
  // Enqueues what makes the operands' o and lse complete.
  void finish(const Operands& operands, cudaStream_t stream) const;

  static double workspace_bytes(const Case& work, const std::vector<RowStorage>& storage);

 private:
  struct BranchState {
    DeviceMemory<std::int32_t> query_offsets, key_offsets;
    BranchRows query_rows, key_rows;
    bool gathered = false;  // O and LSE stand gathered
    DeviceMemory<std::byte> o;
    DeviceMemory<float> lse;
  };

  RowTensor tensor_;
  bool combined_ = false;
  bool complete_ = false;  // the only branch covers every row
  std::vector<BranchState> branches_;
};

}  // namespace hilbench::cuda
