// dilated_wgmma as an implementation. CMake defines HILBENCH_ARCHITECTURES, those that dilated_wgmma.cu is
// compiled for ("": none), and HILBENCH_CUDA_MAJOR, the toolkit's version (0: no CUDA).
#include "kernels/cuda/shared/forward_implementation.hpp"
#include "kernels/cuda/wgmma/wgmma_sectors.hpp"
#include "kernels/cuda/wgmma/wgmma_tile_sizes.hpp"

namespace hilbench {
namespace cuda {

// In dilated_wgmma.cu.
std::unique_ptr<ForwardKernel> make_dilated_wgmma(const ForwardShape& shape);
// In walk_wgmma.cu.
std::unique_ptr<WalkKernel> make_walk_wgmma(const ForwardShape& shape);
// In windows_wgmma.cu.
std::unique_ptr<WindowKernel> make_windows_wgmma(const ForwardShape& shape);

namespace {

constexpr std::array kHeadDims = wgmma_head_dims();
constexpr std::string_view kArchitectures = HILBENCH_ARCHITECTURES;

constexpr std::string_view kAbsence =
    HILBENCH_CUDA_MAJOR == 0 ? kNoGpuCode
                             : "this build has no sm_90a code; ./quickstart.sh --all-architectures builds it";

std::int32_t tile_rows(const ForwardShape& shape) {
  return wgmma_tile_rows(shape.head_dim);
}

constexpr ForwardCode code() {
  if constexpr (kArchitectures.empty())
    return {.absence = kAbsence};
  else
    return {kArchitectures, tile_rows, make_dilated_wgmma, make_windows_wgmma, make_walk_wgmma};
}

constexpr ForwardFacts kFacts = {
    .name = "dilated_wgmma",
    .help =
        "fused attention of branches and windows for sm_90a: TMA, wgmma, warp specialisation; fp16 and bf16",
    .first_capability = 90,
    .last_capability = 90,
    .window_head_dims = kHeadDims,
    .head_dims = kHeadDims,
    .peak_unit = gpu_product_unit,
    .automatic_tiles = KeyTiles::automatic,
    .stream = &kWgmmaStream,
    .code = code(),
};

}  // namespace
}  // namespace cuda

extern const Implementation kDilatedWgmma = cuda::forward_implementation<cuda::kFacts>();

}  // namespace hilbench
