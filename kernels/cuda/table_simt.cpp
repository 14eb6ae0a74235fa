// For a toolkit that compiles none of the kernels on matrix units.
#include <array>

#include "kernels/cuda/table.hpp"
#include "kernels/cuda/variants.hpp"

namespace hilbench {

std::span<const Variant* const> cuda_variants() {
  static constexpr std::array kVariants = {&kDilatedSimt};
  return kVariants;
}

}  // namespace hilbench
