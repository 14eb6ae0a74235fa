#include "reports/gate/lone_cases.hpp"

#include <gtest/gtest.h>

namespace hilbench {
namespace {

TEST(LoneCases, FiveAreNamedAndTheRestCounted) {
  LoneCases lone;
  EXPECT_TRUE(lone.empty());
  for (const char* name : {"a", "b", "c", "d"})
    for (const char* variant : {"gemm", "linear"}) lone.add(name, variant, true);
  lone.add("e", "gemm", false);
  lone.add("e", "linear", false);
  lone.add("e", "linear", false);  // of a further baseline
  EXPECT_EQ(lone.variants(), 10u);
  EXPECT_EQ(lone.names(), "a, b, c, d, e (gemm, linear)");
  lone.add("f", "gemm", true);
  EXPECT_EQ(lone.names(), "a, b, c, d, e (gemm, linear) and 1 more case");
}

}  // namespace
}  // namespace hilbench
