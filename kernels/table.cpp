#include "kernels/cuda/table.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "baselines/cublas.hpp"
#include "baselines/cudnn.hpp"
#include "baselines/external/external.hpp"
#include "baselines/gemm.hpp"
#include "baselines/peak.hpp"
#include "kernels/cpu/dilated_cpu.hpp"
#include "kernels/variant.hpp"

namespace hilbench {
namespace {

// A new kernel or baseline for CPUs, or for any device, is one line here, for GPUs alone in the CUDA table.
constexpr std::array kVariants = {&kDilatedCpu, &kGemm, &kPeak, &kTorchSdpa};
// In every build: one that lacks the library says so, and a sweep may name them anywhere.
constexpr std::array kCudaBaselines = {&kCublas, &kCudnn, &kCudnnGather};

const std::vector<const Variant*>& table() {
  static const std::vector<const Variant*> variants = [] {
    std::vector<const Variant*> all(kVariants.begin(), kVariants.end());
    all.insert(all.end(), cuda_variants().begin(), cuda_variants().end());
    all.insert(all.end(), kCudaBaselines.begin(), kCudaBaselines.end());
    return all;
  }();
  return variants;
}

// Known in every build, so that a sweep may name them anywhere: one without them skips.
constexpr std::array<std::string_view, 3> kCudaKernels = {"dilated_wgmma", "dilated_mma", "dilated_simt"};

// The name in a sweep for the best kernel of the device: the first in the table that can.
constexpr std::string_view kBest = "dilated";

bool runs_on(const Variant& variant, DeviceKind device) {
  return variant.external || variant.device == device;
}

bool known(std::string_view name, RecordKind kind) {
  return std::any_of(table().begin(), table().end(),
                     [&](const Variant* variant) { return variant->name == name && variant->kind == kind; });
}

}  // namespace

std::span<const Variant* const> variant_table() {
  return table();
}

const Variant* find_variant(std::string_view name, DeviceKind device) {
  for (const Variant* variant : table())
    if (variant->name == name && runs_on(*variant, device)) return variant;
  return nullptr;
}

std::optional<std::string> reason_unsupported(const Variant& variant, const Case& work,
                                              const VariantSpec& spec, const Gpu* gpu) {
  if (variant.unsupported_on != nullptr && gpu != nullptr)
    if (std::optional<std::string> reason = variant.unsupported_on(*gpu)) return reason;
  return variant.unsupported(work, spec);
}

const Variant* resolve_variant(const VariantSpec& spec, const Case& work, const Gpu* gpu) {
  const Variant* found = nullptr;
  for (const Variant* variant : table()) {
    const bool meant =
        spec.kernel == kBest ? variant->kind == RecordKind::kernel : variant->name == spec.kernel;
    if (!meant || !runs_on(*variant, work.device)) continue;
    found = variant;
    if (!reason_unsupported(*variant, work, spec, gpu)) break;
  }
  return found;
}

std::vector<std::string_view> kernel_names() {
  std::vector<std::string_view> names = {kBest};
  for (const Variant* variant : table())
    if (variant->kind == RecordKind::kernel) names.push_back(variant->name);
  for (const std::string_view name : kCudaKernels)
    if (!known(name, RecordKind::kernel)) names.push_back(name);
  return names;
}

bool known_kernel(std::string_view name) {
  const std::vector<std::string_view> names = kernel_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool known_baseline(std::string_view name) {
  return known(name, RecordKind::baseline);
}

}  // namespace hilbench
