// Tile registers (Intel AMX) in memory, for processors without them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/cpu/amx_products.hpp"

namespace hilbench {

// The tile registers as Intel's manual defines them (SDM, TILELOADD, TILESTORED, TDPBF16PS), for whole tiles;
// subnormals are not flushed and sums are not fused.
class EmulatedTiles {
 public:
  template <int kTile>
  void clear() {
    std::ranges::fill(row<kTile>(0), row<kTile>(kAmxRows), 0);
  }
  template <int kTile>
  void load(const float* from, std::size_t stride_bytes) {
    for (std::size_t r = 0; r < kAmxRows; ++r)
      std::memcpy(row<kTile>(r), reinterpret_cast<const std::byte*>(from) + r * stride_bytes, kRowBytes);
  }
  template <int kTile>
  void store(float* to, std::size_t stride_bytes) {
    for (std::size_t r = 0; r < kAmxRows; ++r)
      std::memcpy(reinterpret_cast<std::byte*>(to) + r * stride_bytes, row<kTile>(r), kRowBytes);
  }
  template <int kSum, int kA, int kB>
  void multiply_add() {
    for (std::size_t r = 0; r < kAmxRows; ++r)
      for (std::size_t word = 0; word < kAmxWords; ++word)
        for (std::size_t column = 0; column < kAmxWords; ++column) {
          std::uint32_t& bits = row<kSum>(r)[column];
          const std::uint32_t a = row<kA>(r)[word], b = row<kB>(word)[column];
          const float sum = std::bit_cast<float>(bits) + upper(a) * upper(b) + lower(a) * lower(b);
          bits = std::bit_cast<std::uint32_t>(sum);
        }
  }

 private:
  static constexpr std::size_t kRowBytes = kAmxWords * sizeof(float);
  static float lower(std::uint32_t word) { return std::bit_cast<float>(word << 16); }
  static float upper(std::uint32_t word) { return std::bit_cast<float>(word & 0xffff0000u); }
  template <int kTile>
  std::uint32_t* row(std::size_t r) {
    static_assert(kTile >= 0 && kTile < 8);
    return words_.data() + (kTile * kAmxRows + r) * kAmxWords;
  }
  std::vector<std::uint32_t> words_ = std::vector<std::uint32_t>(8 * kAmxRows * kAmxWords);
};

}  // namespace hilbench
