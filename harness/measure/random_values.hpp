// Random numbers for the inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/base/hash.hpp"

namespace hilbench {

// 0, 1 ... count - 1 in a random sequence, the same for the same seed (Fisher-Yates).
std::vector<std::size_t> shuffled(std::size_t count, std::uint64_t seed);

// Number `i` of the stream `key`: N(0, 1) by the Box-Muller transform. One in a thousand is from N(0, 100)
// instead.
float random_value(std::uint64_t key, std::uint64_t i);

// The same bits as random_value(key, first), random_value(key, first + 1) ..., but computed with vector
// instructions.
void random_values(std::uint64_t key, std::uint64_t first, std::span<float> to);

}  // namespace hilbench
