// For a test program with a table of variants of its own: what baselines/table.cpp defines beside
// implementation_table(), which the program itself does. To be included once.
#pragma once

#include <string_view>
#include <vector>

#include "baselines/table.hpp"
#include "kernels/base/text/refusal.hpp"

namespace hilbench {

const Implementation* find_implementation(std::string_view name, DeviceKind) {
  for (const Implementation* implementation : implementation_table())
    if (implementation->name == name) return implementation;
  return nullptr;
}
const Implementation* resolve_implementation(const Variant& variant, const Case& work, const Gpu*) {
  return find_implementation(variant.name(), work.device);
}
Refusal why_not(const Implementation& implementation, const Case& work, const Variant& variant, const Gpu*) {
  return implementation.why_not(work, variant);
}
std::vector<std::string_view> kernel_names() {
  std::vector<std::string_view> names;
  for (const Implementation* implementation : implementation_table())
    if (implementation->kind == ImplementationKind::kernel) names.push_back(implementation->name);
  return names;
}

}  // namespace hilbench
