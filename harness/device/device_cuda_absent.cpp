// For a build without CUDA.
#include "harness/device/device.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/machine/gpu.hpp"

namespace hilbench {

std::unique_ptr<Device> open_cuda_device(int) {
  throw EnvironmentError({.what = "no CUDA device", .why = survey_gpus().absence});
}

}  // namespace hilbench
