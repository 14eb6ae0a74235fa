#include "kernels/cuda/forward_kernels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kernels/cuda/forward_code.hpp"

namespace hilbench {
namespace {

using cuda::ForwardCode;

std::string_view fma_unit(const Case&) {
  return "fp32_fma";
}

struct ForwardFacts {
  std::string_view name, help;
  ForwardCode code;
  int first_capability, last_capability;  // of the GPUs that it is written for, 10 * major + minor
  bool stores_fp32;
  std::span<const int> head_dims;  // empty: 8 to 256 in steps of 8
  std::string_view (*peak_unit)(const Case&);
};

constexpr int kMmaHeadDims[] = {32, 64, 96, 128, 256};
constexpr int kWgmmaHeadDims[] = {64, 128};

constexpr ForwardFacts kSimt = {"dilated_simt",
                                "fused dilated attention in fp32 arithmetic on any GPU; fp32, fp16 and bf16",
                                ForwardCode::simt,
                                61,
                                999,
                                true,
                                {},
                                fma_unit};
constexpr ForwardFacts kMma = {
    "dilated_mma",
    "fused dilated attention for sm_80 and up: mma.sync, ldmatrix, cp.async; fp16 and bf16",
    ForwardCode::mma,
    80,
    999,
    false,
    kMmaHeadDims,
    gpu_product_unit};
constexpr ForwardFacts kWgmma = {
    "dilated_wgmma",
    "fused dilated attention for sm_90a: TMA, wgmma, warp specialisation; fp16 and bf16",
    ForwardCode::wgmma,
    90,
    90,
    false,
    kWgmmaHeadDims,
    gpu_product_unit};

std::optional<std::string> wrong_head_dim(const ForwardFacts& facts, std::int64_t head_dim) {
  const std::span<const int> dims = facts.head_dims;
  if (dims.empty() && (head_dim < 8 || head_dim > 256 || head_dim % 8 != 0))
    return fmt::format("{} has head_dim 8 to 256 in steps of 8, not {}", facts.name, head_dim);
  if (!dims.empty() && std::find(dims.begin(), dims.end(), head_dim) == dims.end())
    return fmt::format("{} has head_dim {}, not {}", facts.name, fmt::join(dims, ", "), head_dim);
  return std::nullopt;
}

std::optional<std::string> why_not(const ForwardFacts& facts, const Case& work) {
  if (const std::string_view why = cuda::absence(facts.code); !why.empty()) return std::string(why);
  if (work.dtype == Dtype::fp32 && !facts.stores_fp32)
    return fmt::format("{} reads fp16 and bf16 only", facts.name);
  if (auto reason = wrong_head_dim(facts, work.head_dim)) return reason;
  // Below 8.0 a block has 48 KiB of shared memory, which a tile of long rows exceeds.
  if (facts.code == ForwardCode::simt && work.head_dim > 128 && cuda::tile_rows(facts.code, work) == 0)
    return fmt::format("{} has no tile of head_dim {} for this GPU", facts.name, work.head_dim);
  if (work.pass == Pass::backward) return fmt::format("{} computes the forward pass only", facts.name);
  return std::nullopt;
}

std::optional<std::string> why_not_on(const ForwardFacts& facts, const Gpu& gpu) {
  if (!cuda::absence(facts.code).empty()) return std::nullopt;  // said for every case
  if (gpu.compute_capability < facts.first_capability || gpu.compute_capability > facts.last_capability)
    return fmt::format("{} needs compute capability {}.{}, this GPU has {}", facts.name,
                       facts.first_capability / 10, facts.first_capability % 10, gpu.capability_text());
  const std::string why = cuda::absence_for(facts.code, gpu.compute_capability);
  return why.empty() ? std::nullopt : std::optional(why);
}

template <const ForwardFacts& kFacts>
constexpr Implementation implementation_of() {
  return {
      .name = kFacts.name,
      .help = kFacts.help,
      .kind = ImplementationKind::kernel,
      .device = DeviceKind::cuda,
      .peak_unit = kFacts.peak_unit,
      .tile_rows = [](const Case& work) { return cuda::tile_rows(kFacts.code, work); },
      .why_not = [](const Case& work, const Variant&) { return why_not(kFacts, work); },
      .why_not_on = [](const Gpu& gpu) { return why_not_on(kFacts, gpu); },
      .workspace_bytes = [](const Case& work, int) { return cuda::workspace_bytes(work); },
      .prepare = [](const Case& work, const Variant& variant,
                    int) { return cuda::prepare(kFacts.code, work, variant); },
      .library = [] { return nlohmann::json(); },
  };
}

}  // namespace

const Implementation kDilatedWgmma = implementation_of<kWgmma>();
const Implementation kDilatedMma = implementation_of<kMma>();
const Implementation kDilatedSimt = implementation_of<kSimt>();

}  // namespace hilbench
