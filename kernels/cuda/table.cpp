#include "kernels/cuda/table.hpp"

#include <array>

#include "kernels/cuda/variants.hpp"

namespace hilbench {

std::span<const Variant* const> cuda_variants() {
  // A new kernel or baseline for GPUs is one line here.
  static constexpr std::array kVariants = {&kDilatedWgmma, &kDilatedMma, &kDilatedSimt};
  return kVariants;
}

}  // namespace hilbench
