// The baseline `peak` on a GPU.
#pragma once

#include "kernels/implementation.hpp"

namespace hilbench {

// A fixed number of products on the unit for the case's dtype. No attention, no output.
extern const Implementation kCudaPeak;

}  // namespace hilbench
