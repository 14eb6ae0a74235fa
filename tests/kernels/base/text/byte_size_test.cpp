#include "kernels/base/text/byte_size.hpp"

#include <gtest/gtest.h>

#include "kernels/base/text/error.hpp"

namespace hilbench {
namespace {

TEST(ByteSize, ReadsDecimalNumbersWithAUnit) {
  EXPECT_EQ(parse_bytes("80GB", "x"), 80'000'000'000);
  EXPECT_EQ(parse_bytes("8GiB", "x"), std::int64_t{8} << 30);
  EXPECT_EQ(parse_bytes("1.5 kib", "x"), 1536);
  EXPECT_EQ(parse_bytes("0.5MB", "x"), 500'000);
  EXPECT_EQ(parse_bytes("1B", "x"), 1);
}

TEST(ByteSize, RefusesTheRest) {
  for (const char* text : {"0x10GB", "0x10",          "010GB", "80",     "0",     "much",   "",  "GB",
                           "-1GB",   "+1GB",          "1e3GB", "80 G B", "80GBs", "1..5GB", ".", "0GB",
                           "0.5B",   "99999999999TB", " 8GB",  "1,5GB"})
    EXPECT_THROW(parse_bytes(text, "--memory"), UsageError) << text;
  try {
    parse_bytes("80", "--memory");
  } catch (const UsageError& error) {
    EXPECT_STREQ(
        error.what(),
        "'80' is not a memory size (--memory): it has no unit; write a decimal number and a unit: 80GB, "
        "8GiB, 1.5TB");
  }
}

}  // namespace
}  // namespace hilbench
