#include "harness/rounding.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace hilbench {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(Rounding, Bf16KeepsEightBitsAndTiesToEven) {
  EXPECT_EQ(bf16_bits(1.0f), 0x3f80);
  EXPECT_EQ(round_to(Dtype::bf16, 1.0f + 0x1p-8f), 1.0f);           // tie, down to even
  EXPECT_EQ(round_to(Dtype::bf16, 1.0f + 3 * 0x1p-8f), 1.015625f);  // tie, up to even
  EXPECT_EQ(round_to(Dtype::bf16, 1.0f + 0x1.1p-8f), 1.0078125f);   // above the tie
  EXPECT_EQ(round_to(Dtype::bf16, -kInfinity), -kInfinity);
  EXPECT_EQ(round_to(Dtype::bf16, 3.4e38f), kInfinity);
  EXPECT_TRUE(std::isnan(round_to(Dtype::bf16, std::numeric_limits<float>::quiet_NaN())));
}

TEST(Rounding, Fp16KeepsElevenBitsSubnormalsAndOverflows) {
  EXPECT_EQ(round_to(Dtype::fp16, 1.0f + 0x1p-11f), 1.0f);  // tie, down to even
  EXPECT_EQ(round_to(Dtype::fp16, 1.0f + 3 * 0x1p-11f), 1.0f + 2 * 0x1p-10f);
  EXPECT_EQ(round_to(Dtype::fp16, 65519.0f), 65504.0f);
  EXPECT_EQ(round_to(Dtype::fp16, 65520.0f), kInfinity);
  EXPECT_EQ(round_to(Dtype::fp16, 0x1.8p-24f), 0x1p-23f);  // tie between 1 and 2 steps, up to even
  EXPECT_EQ(round_to(Dtype::fp16, 0x1p-26f), 0.0f);
  EXPECT_EQ(round_to(Dtype::fp16, -0.0f), 0.0f);
}

TEST(Rounding, Fp32IsLeftAlone) {
  EXPECT_EQ(round_to(Dtype::fp32, 0.1f), 0.1f);
}

}  // namespace
}  // namespace hilbench
