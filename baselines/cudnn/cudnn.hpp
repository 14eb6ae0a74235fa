// `cudnn`: cuDNN's fused attention on the GPU, reading dilated rows in place. `cudnn_gather`: the same on
// gathered rows, as frameworks call it.
#pragma once

#include "kernels/implementation.hpp"

namespace hilbench {

extern const Implementation kCudnn;
extern const Implementation kCudnnGather;

}  // namespace hilbench
