// The table of kernels and baselines, and functions that look them up.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/base/text/refusal.hpp"
#include "kernels/implementation.hpp"

namespace hilbench {

// Every kernel and baseline. Those that this build has no code for are listed too and say why
// they cannot run.
std::span<const Implementation* const> implementation_table();
const Implementation* find_implementation(std::string_view name, DeviceKind device);
// What computes `variant` for `work` on its device; `gpu`: the device if it is a GPU. For the alias
// `dilated`, and for a baseline that is a ring algorithm, the first kernel of the table that can compute the
// case, or if none can, the last one, which says why. Null if nothing of that name runs on the device.
const Implementation* resolve_implementation(const Variant& variant, const Case& work, const Gpu* gpu);
// Why `implementation` cannot compute the case on its device; nothing if it can.
Refusal why_not(const Implementation& implementation, const Case& work, const Variant& variant,
                const Gpu* gpu);
// Names that a sweep may write as kernel, including the alias `dilated`.
std::vector<std::string_view> kernel_names();

}  // namespace hilbench
