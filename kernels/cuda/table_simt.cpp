// For a toolkit that compiles none of the kernels on matrix units.
#include <array>

#include "baselines/cuda_peak.hpp"
#include "kernels/cuda/table.hpp"
#include "kernels/cuda/variants.hpp"

namespace hilbench {

std::span<const Variant* const> cuda_variants() {
  static constexpr std::array kVariants = {&kDilatedSimt, &kCudaPeak};
  return kVariants;
}

}  // namespace hilbench
