// For a build without CUDA.
#include "harness/gpu.hpp"

namespace hilbench {

GpuSurvey survey_gpus() {
  return {.absence =
              "this build has no CUDA code; configure with -DHILBENCH_CUDA=ON where a CUDA compiler is"};
}

}  // namespace hilbench
