// The ways in which the ranks of a ring exchange data, with what each does in a line.
#pragma once

#include <span>
#include <string_view>

#include "kernels/case/variant.hpp"

namespace hilbench {

struct RingAlgorithmInfo {
  RingAlgorithm algorithm;
  std::string_view help;
};

std::span<const RingAlgorithmInfo> ring_algorithms();

}  // namespace hilbench
