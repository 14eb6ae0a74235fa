#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "kernels/cuda/forward_execution.hpp"
#include "kernels/cuda/variants.hpp"

namespace hilbench {
namespace {

constexpr std::string_view kName = "dilated_mma";

std::optional<std::string> unsupported(const Case& work, const VariantSpec&) {
  static constexpr int kHeadDims[] = {32, 64, 96, 128, 256};
  return cuda::matrix_unsupported(work, kName, kHeadDims);
}

std::optional<std::string> unsupported_on(const Gpu& gpu) {
  if (gpu.compute_capability < 80)
    return fmt::format("{} needs compute capability 8.0, this GPU has {}", kName, gpu.capability_text());
  return std::nullopt;
}

}  // namespace

const Variant kDilatedMma = {
    .name = kName,
    .help = "fused dilated attention for sm_80 and up: mma.sync, ldmatrix, cp.async; fp16 and bf16",
    .kind = RecordKind::kernel,
    .device = DeviceKind::cuda,
    .peak_unit = gpu_product_unit,
    .tile_rows = [](const Case& work) -> std::int64_t {
      return cuda::dilated_mma_tile_rows(cuda::forward_shape(work));
    },
    .unsupported = unsupported,
    .unsupported_on = unsupported_on,
    .workspace_bytes = cuda::forward_workspace_bytes,
    .prepare =
        [](const Case& work, const VariantSpec&, int) {
          return cuda::forward_execution(work, cuda::make_dilated_mma(cuda::forward_shape(work)));
        },
    .library = [] { return nlohmann::json(); },
};

}  // namespace hilbench
