#include "kernels/cpu/amx_products.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "harness/rounding.hpp"
#include "kernels/cpu/bf16_products.hpp"

namespace hilbench {
namespace {

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

// Operands of multiply_amx, and its result in double precision.
template <int kColumns>
struct ProductProblem {
  static constexpr std::size_t kWidth = kColumns * kAmxWords;
  std::size_t rows, words, a_stride;
  std::vector<float> a, b, c;
  std::vector<double> expected;

  ProductProblem(std::size_t row_count, std::size_t word_count, Start start)
      : rows(row_count), words(word_count), a_stride(word_count + 16) {
    std::mt19937 random(static_cast<unsigned>(rows * words) + kColumns);
    std::normal_distribution<float> normal;
    const auto element = [&] { return std::uint32_t{bf16_bits(normal(random))}; };
    const auto fill = [&](std::vector<float>& tensor, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i)
        tensor.push_back(std::bit_cast<float>(element() | element() << 16));
    };
    fill(a, rows * a_stride);
    fill(b, words * kWidth);
    for (std::size_t i = 0; i < rows * kWidth; ++i) c.push_back(normal(random));
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t column = 0; column < kWidth; ++column) {
        double sum = start == Start::from_zero ? 0 : c[row * kWidth + column];
        for (std::size_t w = 0; w < 2 * words; ++w)
          sum += double{half(a[row * a_stride + w / 2], w)} * half(b[w / 2 * kWidth + column], w);
        expected.push_back(sum);
      }
  }

  static float half(float word, std::size_t which) {
    const auto bits = std::bit_cast<std::uint32_t>(word);
    return bf16_value(static_cast<std::uint16_t>(which % 2 == 0 ? bits : bits >> 16));
  }

  template <class Tiles>
  double largest_error(Tiles& tiles, Start start) const {
    std::vector<float> result = c;
    multiply_amx<kColumns>(tiles, a.data(), a_stride, b.data(), rows, words, start, result.data());
    double largest = 0;
    for (std::size_t i = 0; i < result.size(); ++i)
      largest = std::max(largest, std::abs(result[i] - expected[i]));
    return largest;
  }
};

template <class Tiles, int kColumns>
void expect_products(Tiles& tiles) {
  for (const Start start : {Start::from_zero, Start::from_result})
    for (const std::size_t rows : {32, 64, 96, 128})
      for (const std::size_t words : {16, 32, 48, 128}) {
        const ProductProblem<kColumns> problem(rows, words, start);
        EXPECT_LT(problem.largest_error(tiles, start), 2e-4) << kColumns << " " << rows << " " << words;
      }
}

TEST(AmxProducts, BlockingIsRightOnEmulatedTiles) {
  EmulatedTiles tiles;
  expect_products<EmulatedTiles, 1>(tiles);
  expect_products<EmulatedTiles, 2>(tiles);
}

TEST(AmxProducts, ProcessorMultipliesTheSame) {
  if (available_bf16_products().front() != Bf16Products::amx_bf16)
    GTEST_SKIP() << "this processor has no AMX with bf16, or the system does not give it to the process";
#if defined(__x86_64__)
  AmxTiles tiles;
  expect_products<AmxTiles, 1>(tiles);
  expect_products<AmxTiles, 2>(tiles);
#endif
}

}  // namespace
}  // namespace hilbench
