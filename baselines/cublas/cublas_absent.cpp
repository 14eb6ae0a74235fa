// `cublas` in a build without CUDA, or without the header of cuBLAS.
#include <nlohmann/json.hpp>

#include "baselines/cublas/cublas.hpp"
#include "kernels/machine/gpu.hpp"

namespace hilbench {
namespace {

std::string absence() {
  return cuda_runtime_version() == 0
             ? kNoGpuCode
             : "this build has no cuBLAS: ./quickstart.sh --cuda 12 leaves it out; --cuda builds it with an "
               "installed CUDA toolkit";
}

}  // namespace

const Implementation kCublas = {
    .name = "cublas",
    .help = "cuBLAS products around a softmax, dilated rows read in place, merged by LSE",
    .kind = ImplementationKind::baseline,
    .device = DeviceKind::cuda,
    .peak_unit = [](const Case&) -> std::string_view { return "fp32_fma"; },
    .why_not = [](const Case&, const Variant&) -> std::optional<std::string> { return absence(); },
    .workspace_bytes = [](const Case&, int) { return 0.0; },
    .prepare = [](const Case&, const KernelChoice&, int) -> std::unique_ptr<Execution> { return nullptr; },
    .library =
        [] {
          return nlohmann::json{{"name", "cuBLAS"}, {"note", absence()}};
        },
};

}  // namespace hilbench
