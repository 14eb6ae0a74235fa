#include "kernels/case/variant_filter.hpp"

#include <gtest/gtest.h>

#include "kernels/base/text/error.hpp"

namespace hilbench {
namespace {

TEST(VariantFilter, SearchesCaseAndVariant) {
  const VariantFilter both("^n64-.*/dilated/hilbert$");
  EXPECT_TRUE(both.finds("n64-w64", "dilated/hilbert"));
  EXPECT_FALSE(both.finds("n640-w64", "dilated/hilbert"));
  EXPECT_FALSE(both.finds("n64-w64", "dilated/hilbert@twin"));
  EXPECT_TRUE(VariantFilter("w64/dil").finds("n64-w64", "dilated/linear"));
}

TEST(VariantFilter, FindsAllIfNoneIsGiven) {
  EXPECT_TRUE(VariantFilter().finds("n64", "gemm"));
  EXPECT_TRUE(VariantFilter("").finds("n64", "gemm"));
}

TEST(VariantFilter, RefusesWhatIsNoExpressionAndNamesTheOption) {
  EXPECT_THROW(VariantFilter(std::string(1001, 'a')), UsageError);
  try {
    VariantFilter("(", "--inject");
    FAIL() << "'(' is no regular expression";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("--inject"), std::string::npos) << error.what();
  }
}

// A backtracking matcher takes 2^60 steps.
TEST(VariantFilter, TakesTimeThatIsBoundedByTheText) {
  EXPECT_FALSE(VariantFilter("^(a*)*b$").finds(std::string(60, 'a'), "c"));
}

}  // namespace
}  // namespace hilbench
