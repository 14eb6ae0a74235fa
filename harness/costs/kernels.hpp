// What the CUDA compiler said of each GPU kernel of this build: registers, spills, shared memory.
#pragma once

#include <string_view>
#include <vector>

#include "harness/costs/costs.hpp"

namespace hilbench {

struct KernelCosts {
  KernelBasis basis;
  DeviceCode device_code;
  std::vector<CostRow> rows;  // by architecture, then by name
};

// Of this build. The compiler's words were kept when it was built, so this needs no GPU.
KernelCosts kernel_costs();

// From lines that `ptxas -v` writes, after the lines "compiler: NAME", "flags: FLAGS" and "source: FILE HASH"
// ..., or after the line "absent: WHY".
KernelCosts parse_kernel_costs(std::string_view text);

}  // namespace hilbench
