// Variants whose ranks pass keys on by a given algorithm.
#pragma once

#include <cstdint>

#include "kernels/case/variant.hpp"

namespace hilbench {

inline Variant variant_of(RingAlgorithm algorithm, Sharding sharding = Sharding::contiguous) {
  Variant variant{KernelChoice{.name = "dilated_cpu"}};
  variant.ring.algorithm = algorithm;
  variant.ring.sharding = sharding;
  return variant;
}

inline Variant grouped(RingAlgorithm algorithm, std::int64_t groups,
                       Sharding sharding = Sharding::contiguous) {
  Variant variant = variant_of(algorithm, sharding);
  variant.ring.groups = groups;
  return variant;
}

}  // namespace hilbench
