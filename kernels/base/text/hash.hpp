// FNV-1a (Fowler, Noll, Vo; draft-eastlake-fnv). The value is the same on every machine, so it may be stored.
// It detects accidental differences, not deliberate ones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hilbench {

inline constexpr std::uint64_t kFnvBasis = 0xcbf29ce484222325u, kFnvPrime = 0x100000001b3u;
inline constexpr std::uint32_t kFnvBasis32 = 0x811c9dc5u, kFnvPrime32 = 0x01000193u;

// Hash of `bytes`. To hash a text in parts, pass the hash of the part before as `hash`.
constexpr std::uint64_t fnv1a(std::string_view bytes, std::uint64_t hash = kFnvBasis) {
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * kFnvPrime;
  return hash;
}
// The hash as 16 hexadecimal digits.
std::string hash_text(std::string_view bytes);
constexpr std::uint32_t fnv1a_32(std::string_view bytes, std::uint32_t hash = kFnvBasis32) {
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * kFnvPrime32;
  return hash;
}

// Takes a whole integer at once and mixes its high bits into the low ones: for hash tables and large files.
constexpr std::uint64_t hash_integer(std::uint64_t hash, std::int64_t value) {
  hash = (hash ^ static_cast<std::uint64_t>(value)) * kFnvPrime;
  return hash ^ hash >> 29;
}

// The output function of SplitMix64 (Steele, Lea, Flood 2014). It turns a counter into a word that looks
// random.
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace hilbench
