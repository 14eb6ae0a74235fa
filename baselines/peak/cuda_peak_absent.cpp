// `peak` of a GPU in a build without CUDA.
#include <nlohmann/json.hpp>

#include "baselines/peak/cuda_peak.hpp"
#include "kernels/machine/gpu.hpp"

namespace hilbench {

const Implementation kCudaPeak = {
    .name = "peak",
    .help = "measured peak of the unit for the dtype: the roof, not attention",
    .kind = ImplementationKind::baseline,
    .device = DeviceKind::cuda,
    .has_output = false,
    .peak_unit = gpu_product_unit,
    .why_not = [](const Case&, const Variant&) -> std::optional<std::string> { return kNoGpuCode; },
    .workspace_bytes = [](const Case&, int) { return 0.0; },
    .own_flops = [](const Case&, int) { return 0.0; },
    .prepare = [](const Case&, const KernelChoice&, int) -> std::unique_ptr<Execution> { return nullptr; },
    .library = [] { return nlohmann::json(); },
};

}  // namespace hilbench
