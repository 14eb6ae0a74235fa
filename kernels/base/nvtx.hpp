// Named ranges for Nsight Systems and Nsight Compute, in a domain of their own: case, variant, phase;
// of a ring, each step of every rank.
#pragma once

#include <string>

namespace hilbench {

// From construction to destruction; ranges nest. Costs nothing to speak of while no tool listens.
class NvtxRange {
 public:
  explicit NvtxRange(const std::string& name);
  ~NvtxRange();
  NvtxRange(const NvtxRange&) = delete;
  NvtxRange& operator=(const NvtxRange&) = delete;
};

}  // namespace hilbench
