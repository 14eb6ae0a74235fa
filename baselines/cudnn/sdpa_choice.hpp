// Which of the plans of an attention call is fastest.
#pragma once

#include <cstddef>

#include "baselines/cudnn/cudnn_sdpa.hpp"

namespace hilbench {

struct SdpaChoice {
  std::size_t plan = 0;   // of sdpa.plans()
  std::size_t timed = 0;  // number of plans that were timed
};

// Times the plans on these rows. An earlier plan, which cuDNN's heuristics prefer, stays unless a later one
// is 1 % faster. Leaves out later plans whose workspace takes more than half of the free memory, and those
// that cuDNN refuses to execute; throws the first refusal if it executes none. Waits for the device.
SdpaChoice fastest_plan(const CudnnSdpa& sdpa, const SdpaRows& rows);

}  // namespace hilbench
