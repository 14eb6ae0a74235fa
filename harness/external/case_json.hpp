// What a program is told of the case that it is to compute.
#pragma once

#include <nlohmann/json.hpp>

#include "kernels/case/case.hpp"

namespace hilbench {

// The fields of docs/external.md, "The protocol"; `threads`: those that it is run with. The case may have 0.
nlohmann::json case_json(const Case& work, int threads);

}  // namespace hilbench
