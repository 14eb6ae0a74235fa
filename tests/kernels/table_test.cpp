#include <gtest/gtest.h>

#include <set>

#include "kernels/variant.hpp"

namespace hilbench {
namespace {

TEST(Table, EveryVariantIsWhole) {
  std::set<std::string_view> names;
  for (const Variant* variant : variant_table()) {
    EXPECT_TRUE(names.insert(variant->name).second) << variant->name;
    EXPECT_EQ(find_variant(variant->name), variant);
    EXPECT_FALSE(variant->help.empty());
    EXPECT_TRUE(variant->library || variant->external || variant->kind == RecordKind::kernel)
        << variant->name;
    EXPECT_TRUE(variant->peak_unit && variant->unsupported && variant->workspace_bytes) << variant->name;
    EXPECT_EQ(variant->prepare == nullptr, variant->external) << variant->name;
    EXPECT_TRUE(variant->tile_rows || variant->kind == RecordKind::baseline) << variant->name;
    EXPECT_TRUE(variant->has_output || variant->own_flops) << variant->name;
  }
}

TEST(Table, DilatedIsTheBestKernelOfTheDevice) {
  const VariantSpec dilated{.kernel = "dilated"};
  ASSERT_NE(resolve_variant(dilated, DeviceKind::cpu), nullptr);
  EXPECT_EQ(resolve_variant(dilated, DeviceKind::cpu)->name, "dilated_cpu");
  EXPECT_EQ(resolve_variant(dilated, DeviceKind::cuda), nullptr);
}

TEST(Table, NamesResolveToThemselves) {
  EXPECT_EQ(resolve_variant({.kernel = "gemm", .baseline = true}, DeviceKind::cpu), find_variant("gemm"));
  EXPECT_EQ(resolve_variant({.kernel = "dilated_cpu"}, DeviceKind::cuda), nullptr);
  EXPECT_EQ(resolve_variant({.kernel = "nonsense"}, DeviceKind::cpu), nullptr);
}

TEST(Table, KernelsAndBaselinesAreKeptApart) {
  EXPECT_TRUE(known_kernel("dilated"));
  EXPECT_TRUE(known_kernel("dilated_cpu"));
  EXPECT_FALSE(known_kernel("gemm"));
  EXPECT_TRUE(known_baseline("gemm"));
  EXPECT_TRUE(known_baseline("peak"));
  EXPECT_FALSE(known_baseline("dilated"));
}

}  // namespace
}  // namespace hilbench
