#include "reports/view/margins.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace hilbench {
namespace {

Record of_case(const std::string& name, const std::string& cpu = "one") {
  Record record;
  record.case_id = name;
  (*record.environment)["host"]["cpu"] = cpu;
  return record;
}

TEST(DurationClass, IsByTheLengthOfAnExecution) {
  EXPECT_EQ(duration_class(24'999), DurationClass::under_25_us);
  EXPECT_EQ(duration_class(25'000), DurationClass::under_1_ms);
  EXPECT_EQ(duration_class(999'999), DurationClass::under_1_ms);
  EXPECT_EQ(duration_class(1e6), DurationClass::longer);
}

TEST(TwinDistances, GiveThe95thPercentileOfOthersOfTheirKind) {
  TwinDistances twins;
  for (int i = 1; i <= 20; ++i)
    twins.add(of_case("case" + std::to_string(i)), 2e6, (i % 2 == 0 ? 1 : -1) * 0.001 * i);
  const auto noise = [&](const Record& record, double ns) { return twins.noise(record, ns); };
  ASSERT_TRUE(noise(of_case("another"), 5e6));
  EXPECT_NEAR(*noise(of_case("another"), 5e6), std::expm1(0.019), 1e-12) << "the 19th of 20";
  EXPECT_FALSE(noise(of_case("case3"), 5e6)) << "19 twins of other cases are too few";
  EXPECT_FALSE(noise(of_case("another"), 5e5)) << "shorter executions have noise of their own";
  EXPECT_FALSE(noise(of_case("another", "another machine"), 5e6));
  twins.add(of_case("last"), 2e6, 0.5);
  EXPECT_NEAR(*noise(of_case("case20"), 5e6), std::expm1(0.019), 1e-12);
  EXPECT_NEAR(*noise(of_case("last"), 5e6), std::expm1(0.019), 1e-12) << "its own twin does not count";
}

TEST(MarginText, IsAPercentage) {
  EXPECT_EQ(margin_text(0.01), "1 %");
  EXPECT_EQ(margin_text(0.0234), "2.34 %");
}

}  // namespace
}  // namespace hilbench
