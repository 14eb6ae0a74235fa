#include "kernels/cuda/table.hpp"

#include <array>

#include "baselines/cuda_peak.hpp"
#include "kernels/cuda/variants.hpp"

namespace hilbench {

std::span<const Variant* const> cuda_variants() {
  // A new kernel or baseline for GPUs is one line here.
  static constexpr std::array kVariants = {&kDilatedWgmma, &kDilatedMma, &kDilatedSimt, &kCudaPeak};
  return kVariants;
}

}  // namespace hilbench
