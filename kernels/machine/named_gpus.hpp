// GPUs as their data sheets describe them, for plans on a machine without the card.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/machine/gpu.hpp"

namespace hilbench {

std::vector<std::string> names_of_gpus();  // "gtx-1080", as folders of results are named

// `name`: one of these; otherwise std::invalid_argument. No UUID and no driver.
Gpu named_gpu(std::string_view name);

}  // namespace hilbench
