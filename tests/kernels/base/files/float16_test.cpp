#include "kernels/base/files/float16.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace hilbench {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(Float16, EveryFp16ComesBackAndTiesBetweenTwoGoToTheEvenOne) {
  for (std::uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const auto low = static_cast<std::uint16_t>(bits);
    const auto high = static_cast<std::uint16_t>(bits + 1);
    ASSERT_EQ(fp16_bits(fp16_value(low)), low);
    ASSERT_EQ(fp16_bits(-fp16_value(low)), low | 0x8000);
    if (high == 0x7c00) continue;
    const float tie = (fp16_value(low) + fp16_value(high)) / 2;
    ASSERT_EQ(fp16_bits(tie), low % 2 == 0 ? low : high);
    ASSERT_EQ(fp16_bits(std::nextafter(tie, 0.0f)), low);
    ASSERT_EQ(fp16_bits(std::nextafter(tie, kInfinity)), high);
  }
  EXPECT_EQ(fp16_value(0x7c00), kInfinity);
  EXPECT_TRUE(std::isnan(fp16_value(0x7e00)));
  EXPECT_EQ(fp16_value(0x0001), 0x1p-24f);
  EXPECT_EQ(fp16_value(0x7bff), 65504.0f);
}

}  // namespace
}  // namespace hilbench
