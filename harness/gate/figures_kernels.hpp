// What the CUDA compiler said of each GPU kernel of this build: registers, spills, shared memory.
#pragma once

#include <string_view>
#include <vector>

#include "harness/gate/figures.hpp"

namespace hilbench {

struct KernelFigures {
  KernelBasis basis;
  DeviceCode device_code;
  std::vector<FigureRow> rows;  // by architecture, then by name
};

// Of this build. The compiler's words were kept when it was built, so this needs no GPU.
KernelFigures kernel_figures();

// From lines that `ptxas -v` writes, after the lines "compiler: NAME", "flags: FLAGS" and "source: FILE HASH"
// ..., or after the line "absent: WHY".
KernelFigures parse_kernel_figures(std::string_view text);

}  // namespace hilbench
