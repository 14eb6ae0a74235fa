#include "kernels/cuda/table.hpp"

namespace hilbench {

std::span<const Variant* const> cuda_variants() {
  return {};
}

}  // namespace hilbench
