// The names that a sweep may use: what the tables of this build hold.
#pragma once

#include "harness/sweep/sweep.hpp"

namespace hilbench {

KnownNames known_names();

}  // namespace hilbench
