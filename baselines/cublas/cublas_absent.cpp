// `cublas` in a build without CUDA.
#include <nlohmann/json.hpp>

#include "baselines/cublas/cublas.hpp"
#include "kernels/machine/gpu.hpp"

namespace hilbench {

const Implementation kCublas = {
    .name = "cublas",
    .help = "cuBLAS products around a softmax, dilated rows read in place, merged by LSE",
    .kind = ImplementationKind::baseline,
    .device = DeviceKind::cuda,
    .peak_unit = [](const Case&) -> std::string_view { return "fp32_fma"; },
    .why_not = [](const Case&, const Variant&) -> std::optional<std::string> { return kNoGpuCode; },
    .workspace_bytes = [](const Case&, int) { return 0.0; },
    .prepare = [](const Case&, const KernelChoice&, int) -> std::unique_ptr<Execution> { return nullptr; },
    .library =
        [] {
          return nlohmann::json{{"name", "cuBLAS"}, {"note", kNoGpuCode}};
        },
};

}  // namespace hilbench
