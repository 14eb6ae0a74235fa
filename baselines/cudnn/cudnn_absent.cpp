// `cudnn` and `cudnn_gather` in a build without CUDA, or without the headers of cuDNN and its frontend.
#include <nlohmann/json.hpp>

#include "baselines/cudnn/cudnn.hpp"
#include "kernels/machine/gpu.hpp"

namespace hilbench {
namespace {

std::string why_absent() {
  return cuda_runtime_version() == 0
             ? kNoGpuCode
             : "this build has no cuDNN: ./quickstart.sh --cuda 12 leaves it out; --cuda builds it with an "
               "installed CUDA toolkit, cuDNN's headers, and those of nvidia-cudnn-frontend, which it "
               "fetches";
}

Implementation absent(std::string_view name, std::string_view help) {
  return {
      .name = name,
      .help = help,
      .kind = ImplementationKind::baseline,
      .device = DeviceKind::cuda,
      .peak_unit = [](const Case&) -> std::string_view { return "bf16_tensor"; },
      .why_not = [](const Case&, const Variant&) -> std::optional<std::string> { return why_absent(); },
      .workspace_bytes = [](const Case&, int) { return 0.0; },
      .prepare = [](const Case&, const KernelChoice&, int) -> std::unique_ptr<Execution> { return nullptr; },
      .library =
          [] {
            return nlohmann::json{{"name", "cuDNN"}, {"note", why_absent()}};
          },
  };
}

}  // namespace

const Implementation kCudnn =
    absent("cudnn", "cuDNN fused attention on dilated rows in place, zero rows cleared, merged by LSE");
const Implementation kCudnnGather = absent(
    "cudnn_gather", "dilated rows gathered, cuDNN fused attention, scattered with zero rows, merged by LSE");

}  // namespace hilbench
