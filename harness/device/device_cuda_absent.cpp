// For a build without CUDA.
#include "harness/device.hpp"
#include "harness/error.hpp"
#include "harness/gpu.hpp"

namespace hilbench {

std::unique_ptr<Device> open_cuda_device(int) {
  throw EnvironmentError({.what = "no CUDA device", .why = survey_gpus().absence});
}

}  // namespace hilbench
