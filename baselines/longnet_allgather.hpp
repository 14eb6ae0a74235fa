#pragma once

#include "kernels/variant.hpp"

namespace hilbench {

extern const Variant kLongnetAllgather;

}  // namespace hilbench
