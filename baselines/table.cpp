#include "baselines/table.hpp"

#include <fmt/format.h>

#include <array>

#include "kernels/case/pattern.hpp"

// A new kernel or baseline is one line here; the kernels of a device stand from the best to the worst. Every
// build lists all of them, so that a sweep may name them anywhere: if a build lacks one, it says so and is
// skipped.
// clang-format off
#define HILBENCH_IMPLEMENTATIONS(entry) \
  entry(kDilatedCpu)                    \
  entry(kDilatedWgmma)                  \
  entry(kBoxesWgmma)                    \
  entry(kDilatedMma)                    \
  entry(kDilatedSimt)                   \
  entry(kGemm)                          \
  entry(kPeak)                          \
  entry(kCudaPeak)                      \
  entry(kTorchSdpa)                     \
  entry(kTorchContextParallel)          \
  entry(kTorchWindows)                  \
  entry(kJaxFa3)                        \
  entry(kJaxRing)                       \
  entry(kOrigin)                        \
  entry(kCublas)                        \
  entry(kCudnn)                         \
  entry(kCudnnGather)                   \
  entry(kLongnetAllgather)
// clang-format on

#define HILBENCH_DECLARE(name) extern const Implementation name;
#define HILBENCH_ADDRESS(name) &name,

namespace hilbench {

HILBENCH_IMPLEMENTATIONS(HILBENCH_DECLARE)

namespace {

constexpr std::array kImplementations = {HILBENCH_IMPLEMENTATIONS(HILBENCH_ADDRESS)};

// In a sweep, the name of the best kernel of the device: the first in the table that can compute the case.
constexpr std::string_view kBest = "dilated";

bool runs_on(const Implementation& implementation, DeviceKind device) {
  return implementation.device == DeviceKind::automatic || implementation.device == device;
}

Refusal why_no_dropout(const Implementation& implementation, const Case& work, const Variant& variant) {
  if (!drops(dropout_of(work))) return std::nullopt;
  if (!implementation.dropout) return fmt::format("dropout: not on {}", implementation.name);
  if (has_windows(work)) return "dropout: not with windows or masks";
  if (variant.kernel().order_scope != OrderScope::memory)
    return "dropout: pairs are dropped by their positions, which order_scope tokens and keys change";
  return std::nullopt;
}

}  // namespace

std::span<const Implementation* const> implementation_table() {
  return kImplementations;
}

const Implementation* find_implementation(std::string_view name, DeviceKind device) {
  for (const Implementation* implementation : kImplementations)
    if (implementation->name == name && runs_on(*implementation, device)) return implementation;
  return nullptr;
}

Refusal why_not(const Implementation& implementation, const Case& work, const Variant& variant,
                const Gpu* gpu) {
  if (implementation.why_not_on != nullptr && gpu != nullptr)
    if (std::optional<std::string> reason = implementation.why_not_on(*gpu)) return reason;
  if (has_windows(work) && implementation.has_output && !implementation.windows)
    return fmt::format("windows: not on {}", implementation.name);
  if (implementation.has_output)
    if (Refusal reason = why_no_dropout(implementation, work, variant)) return reason;
  if (work.pass != Pass::both) return implementation.why_not(work, variant);
  Case one = work;
  one.pass = Pass::forward;
  if (Refusal reason = implementation.why_not(one, variant)) return reason;
  one.pass = Pass::backward;
  return implementation.why_not(one, variant);
}

const Implementation* resolve_implementation(const Variant& variant, const Case& work, const Gpu* gpu) {
  const Implementation* named = find_implementation(variant.name(), work.device);
  const bool best = variant.name() == kBest || (named != nullptr && named->ring_algorithm);
  const Implementation* found = nullptr;
  for (const Implementation* implementation : kImplementations) {
    const bool meant =
        best ? implementation->kind == ImplementationKind::kernel : implementation->name == variant.name();
    if (!meant || !runs_on(*implementation, work.device)) continue;
    found = implementation;
    if (!why_not(*implementation, work, variant, gpu)) break;
  }
  return found;
}

std::vector<std::string_view> kernel_names() {
  std::vector<std::string_view> names = {kBest};
  for (const Implementation* implementation : kImplementations)
    if (implementation->kind == ImplementationKind::kernel) names.push_back(implementation->name);
  return names;
}

}  // namespace hilbench
