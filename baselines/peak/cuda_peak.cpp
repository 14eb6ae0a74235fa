#include "baselines/peak/cuda_peak.hpp"

#include <nlohmann/json.hpp>

#include "baselines/peak/device_peak.hpp"

namespace hilbench {
namespace {

cuda::PeakUnit unit_of(const Case& work) {
  switch (work.dtype) {
    case Dtype::bf16:
      return cuda::PeakUnit::bf16_tensor;
    case Dtype::fp16:
      return cuda::PeakUnit::fp16_tensor;
    case Dtype::fp32:
      break;
  }
  return cuda::PeakUnit::fp32_fma;
}

class CudaPeakExecution final : public Execution {
 public:
  explicit CudaPeakExecution(cuda::PeakUnit unit) : unit_(unit) {}
  void run(const Operands&, const Index&) override { cuda::run_peak_work(unit_, nullptr); }
  std::map<std::string, Counter> measured() override {
    constexpr double kSeconds = 0.2;
    return {{"copy_bandwidth",
             {.value = cuda::measure_device_peak(kSeconds).copy_bytes_per_s,
              .unit = "B/s",
              .source = "measured",
              .passes = 1}}};
  }

 private:
  cuda::PeakUnit unit_;
};

}  // namespace

const Implementation kCudaPeak = {
    .name = "peak",
    .help =
        "measured peak of the unit for the dtype, fused multiply-adds or matrix products: the roof, not "
        "attention",
    .kind = ImplementationKind::baseline,
    .device = DeviceKind::cuda,
    .has_output = false,
    .peak_unit = gpu_product_unit,
    .why_not = [](const Case&, const Variant&) -> std::optional<std::string> { return std::nullopt; },
    .why_not_on = [](const Gpu&) -> std::optional<std::string> { return std::nullopt; },
    .workspace_bytes = [](const Case&, int) { return 0.0; },
    .own_flops = [](const Case& work, int) { return cuda::peak_work_flops(unit_of(work)); },
    .prepare = [](const Case& work, const KernelChoice&, int) -> std::unique_ptr<Execution> {
      return std::make_unique<CudaPeakExecution>(unit_of(work));
    },
    .library = [] { return nlohmann::json(); },
};

}  // namespace hilbench
