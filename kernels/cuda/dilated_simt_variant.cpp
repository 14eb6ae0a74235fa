#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "kernels/cuda/forward_execution.hpp"
#include "kernels/cuda/variants.hpp"

namespace hilbench {
namespace {

constexpr std::string_view kName = "dilated_simt";

std::optional<std::string> unsupported(const Case& work, const VariantSpec&) {
  if (work.head_dim < 8 || work.head_dim > 256 || work.head_dim % 8 != 0)
    return fmt::format("{} has head_dim 8 to 256 in steps of 8, not {}", kName, work.head_dim);
  return cuda::forward_unsupported(work, kName);
}

std::optional<std::string> unsupported_on(const Gpu& gpu) {
  if (gpu.compute_capability < 61)
    return fmt::format("{} needs compute capability 6.1, this GPU has {}", kName, gpu.capability_text());
  return std::nullopt;
}

}  // namespace

const Variant kDilatedSimt = {
    .name = kName,
    .help = "fused dilated attention in fp32 arithmetic on any GPU; fp32, fp16 and bf16",
    .kind = RecordKind::kernel,
    .device = DeviceKind::cuda,
    .peak_unit = [](const Case&) -> std::string_view { return "fp32_fma"; },
    .tile_rows = [](const Case& work) -> std::int64_t {
      return cuda::dilated_simt_tile_rows(cuda::forward_shape(work));
    },
    .unsupported = unsupported,
    .unsupported_on = unsupported_on,
    .workspace_bytes = cuda::forward_workspace_bytes,
    .prepare =
        [](const Case& work, const VariantSpec&, int) {
          return cuda::forward_execution(work, cuda::make_dilated_simt(cuda::forward_shape(work)));
        },
    .library = [] { return nlohmann::json(); },
};

}  // namespace hilbench
