#include "kernels/case/rounding.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

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

TEST(Rounding, TensorsComeBackFromStorageRounded) {
  const std::vector<float> values = {0.0f,     -0.0f, 1.0f,  0.1f,  -3.14159f,
                                     65504.0f, 1e6f,  3e-8f, 1e-5f, -kInfinity};
  for (const Dtype dtype : {Dtype::fp32, Dtype::bf16, Dtype::fp16}) {
    std::vector<std::uint32_t> storage(values.size());
    std::vector<float> back(values.size());
    narrow(dtype, values, storage.data());
    widen(dtype, storage.data(), back);
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_EQ(back[i], round_to(dtype, values[i])) << values[i];
  }
}

TEST(Rounding, Fp32IsLeftAlone) {
  EXPECT_EQ(round_to(Dtype::fp32, 0.1f), 0.1f);
}

}  // namespace
}  // namespace hilbench
