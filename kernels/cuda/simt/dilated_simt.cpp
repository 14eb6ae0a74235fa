// dilated_simt as an implementation. CMake defines HILBENCH_ARCHITECTURES, those that dilated_simt.cu is
// compiled for ("": none).
#include "kernels/cuda/shared/forward_implementation.hpp"
#include "kernels/cuda/simt/simt_sectors.hpp"

namespace hilbench {
namespace cuda {

// In simt_shapes.cpp.
std::int32_t dilated_simt_tile_rows(const ForwardShape& shape);
// In dilated_simt.cu.
std::unique_ptr<ForwardKernel> make_dilated_simt(const ForwardShape& shape);
// The same of the backward pass.
std::int32_t dilated_simt_gradient_rows(const ForwardShape& shape);
std::unique_ptr<GradientKernel> make_dilated_simt_gradients(const ForwardShape& shape);

namespace {

constexpr std::string_view kArchitectures = HILBENCH_ARCHITECTURES;

constexpr ForwardCode code() {
  if constexpr (kArchitectures.empty())
    return {.absence = kNoGpuCode};
  else
    return {.architectures = kArchitectures,
            .tile_rows = dilated_simt_tile_rows,
            .make = make_dilated_simt,
            .gradient_rows = dilated_simt_gradient_rows,
            .make_gradients = make_dilated_simt_gradients};
}

constexpr ForwardFacts kFacts = {
    .name = "dilated_simt",
    .help = "fused dilated attention in fp32 arithmetic on any GPU; fp32, fp16 and bf16",
    .first_capability = 61,
    .stores_fp32 = true,
    .dropout = true,
    .peak_unit = [](const Case&) -> std::string_view { return "fp32_fma"; },
    .causal_traversal = CausalTraversal::longest_first,
    .stream = &kSimtStream,
    .code = code(),
};

}  // namespace
}  // namespace cuda

extern const Implementation kDilatedSimt = cuda::forward_implementation<cuda::kFacts>();

}  // namespace hilbench
