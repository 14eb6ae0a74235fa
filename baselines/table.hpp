// Every kernel and baseline of the program, and how a variant finds what computes it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/implementation.hpp"

namespace hilbench {

// Every kernel and baseline. One that this build has no code for is unsupported and says why.
std::span<const Implementation* const> implementation_table();
const Implementation* find_implementation(std::string_view name, DeviceKind device);
// What computes `variant` for `work` on its device, which is `gpu` for a GPU: alias `dilated`, and a baseline
// that is a ring algorithm, give the first kernel of the table that can, else the last that cannot, for its
// reason. Null where the name is known but nothing of this build runs it on that device.
const Implementation* resolve_implementation(const Variant& variant, const Case& work, const Gpu* gpu);
// The reason why `implementation` cannot compute the case on its device, or nothing.
std::optional<std::string> why_not(const Implementation& implementation, const Case& work,
                                   const Variant& variant, const Gpu* gpu);
// Names that a sweep may write as kernel, aliases included.
std::vector<std::string_view> kernel_names();

}  // namespace hilbench
