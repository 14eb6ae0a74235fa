// For a test program with a table of variants of its own: what kernels/table.cpp defines beside
// variant_table(), which the program itself does. To be included once.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "kernels/implementation.hpp"

namespace hilbench {

const Variant* find_variant(std::string_view name, DeviceKind) {
  for (const Variant* variant : variant_table())
    if (variant->name == name) return variant;
  return nullptr;
}
const Variant* resolve_variant(const VariantSpec& spec, const Case& work, const Gpu*) {
  return find_variant(spec.kernel, work.device);
}
std::optional<std::string> reason_unsupported(const Variant& variant, const Case& work,
                                              const VariantSpec& spec, const Gpu*) {
  return variant.unsupported(work, spec);
}
std::vector<std::string_view> kernel_names() {
  std::vector<std::string_view> names;
  for (const Variant* variant : variant_table())
    if (variant->kind == RecordKind::kernel) names.push_back(variant->name);
  return names;
}
bool known_kernel(std::string_view name) {
  const std::vector<std::string_view> names = kernel_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}
bool known_baseline(std::string_view name) {
  return std::any_of(variant_table().begin(), variant_table().end(), [&](const Variant* variant) {
    return variant->kind == RecordKind::baseline && variant->name == name;
  });
}

}  // namespace hilbench
