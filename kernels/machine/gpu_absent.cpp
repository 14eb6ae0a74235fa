// For a build without CUDA.
#include "kernels/machine/gpu.hpp"

namespace hilbench {

int cuda_runtime_version() {
  return 0;
}

GpuSurvey survey_gpus() {
  return {.absence = kNoGpuCode};
}

}  // namespace hilbench
