// For a build without CUDA.
#include "kernels/machine/gpu.hpp"

namespace hilbench {

int cuda_runtime_version() {
  return 0;
}

GpuSurvey survey_gpus() {
  return {.absence =
              "this build has no CUDA code; configure with -DHILBENCH_CUDA=ON where a CUDA compiler is"};
}

}  // namespace hilbench
