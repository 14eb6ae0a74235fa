// Whether the rows of keys are addressed by a stride or by a table of slots.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/case/case.hpp"
#include "kernels/case/variant.hpp"
#include "kernels/index/index.hpp"

namespace hilbench {

// The distance between successive slots, if it is the same in every key list of the branch: the rows can then
// be addressed without a table. Nothing if it is not the same, or if `rows` asks for the table. `linear` and
// `residue` orders give 1 .. dilation.
std::optional<std::int32_t> slot_stride(const BranchIndex& branch, KeyRows rows);

// The same for the lists numbered `lists` of the branch.
std::optional<std::int32_t> slot_stride(const BranchIndex& branch, KeyRows rows,
                                        const std::vector<std::size_t>& lists);

// The slot of each row of Q: `slots`, those of the index, or 0, 1, 2 ... if it has none and the variant asks
// for a table. Empty if Q is addressed without a table.
std::vector<std::int32_t> query_slots(const Case& work, const KernelChoice& choice,
                                      std::vector<std::int32_t> slots);

}  // namespace hilbench
