#pragma once

#include "kernels/implementation.hpp"

namespace hilbench {

extern const Variant kLongnetAllgather;

}  // namespace hilbench
