#include "kernels/cpu/amx_products.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "kernels/base/files/float16.hpp"
#include "kernels/cpu/bf16_products.hpp"
#include "tests/kernels/cpu/emulated_tiles.hpp"

namespace hilbench {
namespace {

// Operands of multiply_amx, and its result in double precision.
struct ProductProblem {
  std::size_t rows, words, a_stride;
  std::vector<float> a, b, c;
  std::vector<double> expected;

  ProductProblem(std::size_t row_count, std::size_t word_count, Start start)
      : rows(row_count), words(word_count), a_stride(word_count + 16) {
    std::mt19937 random(static_cast<unsigned>(rows * words));
    std::normal_distribution<float> normal;
    const auto element = [&] { return std::uint32_t{bf16_bits(normal(random))}; };
    const auto fill = [&](std::vector<float>& tensor, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i)
        tensor.push_back(std::bit_cast<float>(element() | element() << 16));
    };
    fill(a, rows * a_stride);
    fill(b, words * kAmxColumns);
    for (std::size_t i = 0; i < rows * kAmxColumns; ++i) c.push_back(normal(random));
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t column = 0; column < kAmxColumns; ++column) {
        double sum = start == Start::from_zero ? 0 : c[row * kAmxColumns + column];
        for (std::size_t w = 0; w < 2 * words; ++w)
          sum += double{half(a[row * a_stride + w / 2], w)} * half(b[w / 2 * kAmxColumns + column], w);
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
    multiply_amx(tiles, a.data(), a_stride, b.data(), rows, words, start, result.data());
    double largest = 0;
    for (std::size_t i = 0; i < result.size(); ++i)
      largest = std::max(largest, std::abs(result[i] - expected[i]));
    return largest;
  }
};

template <class Tiles>
void expect_products(Tiles& tiles) {
  for (const Start start : {Start::from_zero, Start::from_result})
    for (const std::size_t rows : {32, 64, 96, 128})
      for (const std::size_t words : {16, 32, 48, 128}) {
        const ProductProblem problem(rows, words, start);
        EXPECT_LT(problem.largest_error(tiles, start), 2e-4) << rows << " " << words;
      }
}

TEST(AmxProducts, BlockingIsRightOnEmulatedTiles) {
  EmulatedTiles tiles;
  expect_products(tiles);
}

TEST(AmxProducts, ProcessorMultipliesTheSame) {
  if (available_bf16_products().front() != Bf16Products::amx_bf16)
    GTEST_SKIP() << "this processor has no AMX with bf16, or the system does not give it to the process";
#if defined(__x86_64__)
  AmxTiles tiles;
  expect_products(tiles);
#endif
}

}  // namespace
}  // namespace hilbench
