#pragma once

#include "kernels/implementation.hpp"

namespace hilbench {

extern const Implementation kLongnetAllgather;

}  // namespace hilbench
