#include "kernels/base/text/integer.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace hilbench {
namespace {

TEST(Integer, IsDigitsAloneOrWithABinaryUnit) {
  EXPECT_EQ(integer_of("0"), 0);
  EXPECT_EQ(integer_of("8192"), 8192);
  EXPECT_EQ(integer_of("-3"), -3);
  EXPECT_EQ(integer_of("8k"), 8192);
  EXPECT_EQ(integer_of("1M"), 1 << 20);
  EXPECT_EQ(integer_of("2G"), std::int64_t{1} << 31);
  EXPECT_EQ(integer_of("-1k"), -1024);
  for (const char* text : {"", "-", "k", "-k", "8K", "8kB", "8 k", " 8", "8 ", "+8", "08", "00", "08k", "8.5",
                           "0x10", "1e3", "8kk", "8m", "eight"})
    EXPECT_FALSE(integer_of(text)) << text;
}

TEST(Integer, IsWrittenShort) {
  for (const char* text : {"0", "1", "9000", "8k", "1M", "3G", "1025k", "-2k"})
    EXPECT_EQ(size_text(*integer_of(text)), text);
}

TEST(Integer, BeyondTheRangeIsItsEnd) {
  using Limits = std::numeric_limits<std::int64_t>;
  EXPECT_EQ(integer_of("9223372036854775807"), Limits::max());
  EXPECT_EQ(integer_of("9223372036854775808"), Limits::max());
  EXPECT_EQ(integer_of("9223372036854775807k"), Limits::max());
  EXPECT_EQ(integer_of("-9223372036854775809"), Limits::min());
  EXPECT_EQ(integer_of("-99999999999999G"), Limits::min());
}

}  // namespace
}  // namespace hilbench
