// Random numbers for the inputs.
#pragma once

#include <cstdint>
#include <span>

namespace hilbench {

// The output function of SplitMix64 (Steele, Lea, Flood 2014). It turns a counter into a word that looks
// random.
inline std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// Number `i` of the stream `key`: N(0, 1) by the Box-Muller transform. One in a thousand is from N(0, 100)
// instead.
float random_value(std::uint64_t key, std::uint64_t i);

// The same bits as random_value(key, first), random_value(key, first + 1) ..., but computed with vector
// instructions.
void random_values(std::uint64_t key, std::uint64_t first, std::span<float> to);

}  // namespace hilbench
