#include "kernels/orders/describe.hpp"

#include <gtest/gtest.h>

namespace hilbench {
namespace {

TEST(DescribeOrder, SaysWhatWasCheckedAndTheLocality) {
  const OrderRequest request{.name = "residue", .length = 4096, .residue = 2};
  const std::string text = describe_order(request, order_slots(request));
  EXPECT_NE(text.find("bijection: yes (4096 of 4096"), std::string::npos) << text;
  EXPECT_NE(text.find("unit steps: not asked"), std::string::npos) << text;
  // Dilation 2: 128 neighbours of 256 bytes fill 512 lines and 8 pages.
  EXPECT_NE(text.find("\n       2         1.0           1         512.0          256.0           8.0"),
            std::string::npos)
      << text;
}

TEST(DescribeOrder, SaysWhatIsWrong) {
  const OrderRequest request{.name = "seed_d2xy", .length = 4096};
  const std::string text = describe_order(request, order_slots(request));
  EXPECT_NE(text.find("bijection: NO (1465 of 4096"), std::string::npos) << text;
  EXPECT_NE(text.find("invalid: order seed_d2xy"), std::string::npos) << text;
  EXPECT_EQ(text.find("locality"), std::string::npos) << text;
}

}  // namespace
}  // namespace hilbench
