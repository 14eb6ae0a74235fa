#include "kernels/index/slot_stride.hpp"

#include <numeric>

namespace hilbench {

std::optional<std::int32_t> slot_stride(const BranchIndex& branch, KeyRows rows,
                                        const std::vector<std::size_t>& lists) {
  if (rows == KeyRows::gathered) return std::nullopt;
  std::optional<std::int32_t> stride;
  for (const std::size_t list : lists) {
    for (std::int64_t key = branch.begin[list] + 1; key < branch.begin[list + 1]; ++key) {
      const auto at = static_cast<std::size_t>(key);
      const std::int32_t step = branch.key_slot[at] - branch.key_slot[at - 1];
      if (step < 1 || (stride && *stride != step)) return std::nullopt;
      stride = step;
    }
  }
  return stride.value_or(1);
}

std::optional<std::int32_t> slot_stride(const BranchIndex& branch, KeyRows rows) {
  std::vector<std::size_t> lists(branch.begin.empty() ? 0 : branch.begin.size() - 1);
  std::iota(lists.begin(), lists.end(), 0);
  return slot_stride(branch, rows, lists);
}

std::vector<std::int32_t> query_slots(const Case& work, const KernelChoice& choice,
                                      std::vector<std::int32_t> slots) {
  if (slots.empty() && choice.rows == KeyRows::gathered && choice.order_tensors == OrderTensors::qkv) {
    slots.resize(static_cast<std::size_t>(work.sequence_length));
    std::iota(slots.begin(), slots.end(), 0);
  }
  return slots;
}

}  // namespace hilbench
