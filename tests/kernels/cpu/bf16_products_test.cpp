#include "kernels/cpu/bf16_products.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "tests/kernels/every_product.hpp"

namespace hilbench {
namespace {

// If HILBENCH_BF16 asks for products that this machine lacks, the run says so and tests nothing.
class AskedProducts : public testing::Environment {
  void SetUp() override {
    if (const auto against = chosen_bf16_products().against) GTEST_SKIP() << *against;
  }
};
[[maybe_unused]] const auto* const kAskedProducts = testing::AddGlobalTestEnvironment(new AskedProducts);

bool system_lists(const std::string& flag) {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);)
    if (line.starts_with("flags")) return (line + " ").find(" " + flag + " ") != std::string::npos;
  return false;
}

bool available(Bf16Products products) {
  const auto all = available_bf16_products();
  return std::ranges::find(all, products) != all.end();
}

TEST(Bf16Products, AreThoseThatTheSystemLists) {
  EXPECT_TRUE(available(Bf16Products::widened));
  EXPECT_EQ(available(Bf16Products::avx512_bf16), system_lists("avx512_bf16"));
  EXPECT_LE(available(Bf16Products::amx_bf16), system_lists("amx_bf16"));
}

TEST(Bf16Products, EnvironmentChooses) {
  const auto choice = [](const std::string& wish) {
    const Bf16Wish set(wish);
    return chosen_bf16_products();
  };
  for (const Bf16Products products : available_bf16_products()) {
    const Bf16Choice chosen = choice(std::string(name_of(products)));
    EXPECT_EQ(chosen.products, products);
    EXPECT_EQ(chosen.against, std::nullopt);
  }
  EXPECT_EQ(choice("").products, available_bf16_products().front());
  EXPECT_EQ(choice("fast").against, "HILBENCH_BF16 is 'fast', not amx, avx512 or widened");
  if (!available(Bf16Products::amx_bf16)) {
    EXPECT_EQ(choice("amx").against, "HILBENCH_BF16=amx: this processor or its system has no such products");
  }
}

}  // namespace
}  // namespace hilbench
