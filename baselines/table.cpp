#include <algorithm>
#include <array>
#include <vector>

#include "baselines/cublas/cublas.hpp"
#include "baselines/cudnn/cudnn.hpp"
#include "baselines/external/programs.hpp"
#include "baselines/gemm/gemm.hpp"
#include "baselines/longnet_allgather.hpp"
#include "baselines/peak/cuda_peak.hpp"
#include "baselines/peak/peak.hpp"
#include "kernels/cpu/dilated_cpu.hpp"
#include "kernels/cuda/forward_kernels.hpp"
#include "kernels/implementation.hpp"

namespace hilbench {
namespace {

// A new kernel or baseline is one line here, kernels of a device from the best on. All of them are in every
// build, so that a sweep may name them anywhere: what a build lacks says so and is skipped.
constexpr std::array kVariants = {
    &kDilatedCpu, &kDilatedWgmma, &kDilatedMma,       &kDilatedSimt,          &kGemm,
    &kPeak,       &kCudaPeak,     &kTorchSdpa,        &kTorchContextParallel, &kCublas,
    &kCudnn,      &kCudnnGather,  &kLongnetAllgather,
};

// The name in a sweep for the best kernel of the device: the first in the table that can.
constexpr std::string_view kBest = "dilated";

bool runs_on(const Variant& variant, DeviceKind device) {
  return variant.device == DeviceKind::automatic || variant.device == device;
}

bool known(std::string_view name, RecordKind kind) {
  return std::any_of(kVariants.begin(), kVariants.end(),
                     [&](const Variant* variant) { return variant->name == name && variant->kind == kind; });
}

}  // namespace

std::span<const Variant* const> variant_table() {
  return kVariants;
}

const Variant* find_variant(std::string_view name, DeviceKind device) {
  for (const Variant* variant : kVariants)
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
  const Variant* named = find_variant(spec.kernel, work.device);
  const bool best = spec.kernel == kBest || (named != nullptr && named->ring_algorithm);
  const Variant* found = nullptr;
  for (const Variant* variant : kVariants) {
    const bool meant = best ? variant->kind == RecordKind::kernel : variant->name == spec.kernel;
    if (!meant || !runs_on(*variant, work.device)) continue;
    found = variant;
    if (!reason_unsupported(*variant, work, spec, gpu)) break;
  }
  return found;
}

std::vector<std::string_view> kernel_names() {
  std::vector<std::string_view> names = {kBest};
  for (const Variant* variant : kVariants)
    if (variant->kind == RecordKind::kernel) names.push_back(variant->name);
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
