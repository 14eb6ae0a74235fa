// Random numbers for the inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/base/text/hash.hpp"

namespace hilbench {

// 0, 1 ... count - 1 in a random sequence, the same for the same seed (Fisher-Yates).
std::vector<std::size_t> shuffled(std::size_t count, std::uint64_t seed);

// outliers: N(0, 1) by the Box-Muller transform, but one in a thousand is from N(0, 100). normal: all are
// from N(0, 1). student3: Student's t with three degrees of freedom, divided by its deviation, the root of 3,
// by the polar method of Bailey (Mathematics of Computation 62, 1994).
enum class Distribution { outliers, normal, student3 };

// Number `i` of the stream `key`.
float random_value(std::uint64_t key, std::uint64_t i, Distribution distribution = Distribution::outliers);

// The same bits as random_value of `first`, `first` + 1 ..., but outliers and normal are computed with vector
// instructions.
void random_values(std::uint64_t key, std::uint64_t first, std::span<float> to,
                   Distribution distribution = Distribution::outliers);

}  // namespace hilbench
