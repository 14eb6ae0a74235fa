#include <algorithm>
#include <array>

#include "baselines/external/external.hpp"
#include "baselines/gemm.hpp"
#include "baselines/peak.hpp"
#include "kernels/cpu/dilated_cpu.hpp"
#include "kernels/variant.hpp"

namespace hilbench {
namespace {

// A new kernel or baseline is one line here.
const std::array kVariants = {&kDilatedCpu, &kGemm, &kPeak, &kTorchSdpa};

// The name in a sweep for the best kernel of the device: the first in the table.
constexpr std::string_view kBest = "dilated";

bool known(std::string_view name, RecordKind kind) {
  const Variant* variant = find_variant(name);
  return variant != nullptr && variant->kind == kind;
}

}  // namespace

std::span<const Variant* const> variant_table() {
  return kVariants;
}

const Variant* find_variant(std::string_view name) {
  for (const Variant* variant : kVariants)
    if (variant->name == name) return variant;
  return nullptr;
}

const Variant* resolve_variant(const VariantSpec& spec, DeviceKind device) {
  const auto computes = [&](const Variant* variant) {
    if (variant->device != device) return false;
    return spec.kernel == kBest ? variant->kind == RecordKind::kernel : variant->name == spec.kernel;
  };
  const auto found = std::find_if(kVariants.begin(), kVariants.end(), computes);
  return found == kVariants.end() ? nullptr : *found;
}

bool known_kernel(std::string_view name) {
  return name == kBest || known(name, RecordKind::kernel);
}

bool known_baseline(std::string_view name) {
  return known(name, RecordKind::baseline);
}

}  // namespace hilbench
