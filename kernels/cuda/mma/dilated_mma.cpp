// dilated_mma as an implementation. CMake defines HILBENCH_ARCHITECTURES, those that dilated_mma.cu is
// compiled for ("": none), and HILBENCH_CUDA_MAJOR, the toolkit's version (0: no CUDA).
#include "kernels/cuda/mma/mma_sectors.hpp"
#include "kernels/cuda/mma/mma_tile_rows.hpp"
#include "kernels/cuda/shared/forward_implementation.hpp"

namespace hilbench {
namespace cuda {

// In dilated_mma.cu.
std::unique_ptr<ForwardKernel> make_dilated_mma(const ForwardShape& shape);
std::unique_ptr<WindowKernel> make_windows_mma(const ForwardShape& shape);

namespace {

constexpr int kHeadDims[] = {32, 64, 96, 128, 256};
constexpr int kWindowHeadDims[] = {32, 64, 96, 128};
constexpr std::string_view kArchitectures = HILBENCH_ARCHITECTURES;

constexpr std::string_view kAbsence =
    HILBENCH_CUDA_MAJOR == 0
        ? kNoGpuCode
        : "this build has no code for sm_80 and up; ./quickstart.sh --all-architectures builds it";

std::int32_t tile_rows(const ForwardShape& shape) {
  return mma_tile_rows(shape.head_dim);
}

constexpr ForwardCode code() {
  if constexpr (kArchitectures.empty())
    return {.absence = kAbsence};
  else
    return {kArchitectures, tile_rows, make_dilated_mma, make_windows_mma};
}

constexpr ForwardFacts kFacts = {
    .name = "dilated_mma",
    .help =
        "fused attention of branches and windows for sm_80 and up: mma.sync, ldmatrix, cp.async; fp16 and "
        "bf16",
    .first_capability = 80,
    .window_head_dims = kWindowHeadDims,
    .head_dims = kHeadDims,
    .peak_unit = gpu_product_unit,
    .stream = &kMmaStream,
    .code = code(),
};

}  // namespace
}  // namespace cuda

extern const Implementation kDilatedMma = cuda::forward_implementation<cuda::kFacts>();

}  // namespace hilbench
