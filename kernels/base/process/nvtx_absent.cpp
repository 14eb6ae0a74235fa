// For a build without NVTX.
#include "kernels/base/process/nvtx.hpp"

namespace hilbench {

NvtxRange::NvtxRange(const std::string&) {}
NvtxRange::~NvtxRange() = default;

}  // namespace hilbench
