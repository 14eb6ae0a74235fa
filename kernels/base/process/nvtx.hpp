// Named ranges for Nsight Systems and Nsight Compute, in the domain "hilbench": case, variant, phase; in a
// ring, each step of every rank.
#pragma once

#include <string>

namespace hilbench {

// A range from construction to destruction. Ranges nest. The cost is negligible while no tool records them.
class NvtxRange {
 public:
  explicit NvtxRange(const std::string& name);
  ~NvtxRange();
  NvtxRange(const NvtxRange&) = delete;
  NvtxRange& operator=(const NvtxRange&) = delete;
};

}  // namespace hilbench
