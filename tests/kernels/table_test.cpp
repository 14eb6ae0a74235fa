#include <gtest/gtest.h>

#include <set>

#include "kernels/variant.hpp"

namespace hilbench {
namespace {

const Case kOnCpu{.kv_heads = 8, .device = DeviceKind::cpu};

TEST(Table, EveryVariantIsWhole) {
  std::set<std::pair<std::string_view, DeviceKind>> names;
  for (const Variant* variant : variant_table()) {
    EXPECT_TRUE(names.insert({variant->name, variant->device}).second) << variant->name;
    EXPECT_EQ(find_variant(variant->name, variant->device), variant);
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
  const Variant* best = resolve_variant(dilated, kOnCpu, nullptr);
  ASSERT_NE(best, nullptr);
  EXPECT_EQ(best->name, "dilated_cpu");
}

TEST(Table, DilatedDependsOnTheGpuAndTheDtype) {
  if (find_variant("dilated_simt", DeviceKind::cuda) == nullptr) GTEST_SKIP() << "this build has no CUDA";
  const auto best = [](int capability, Dtype dtype) {
    const Gpu gpu{.compute_capability = capability};
    const Case work{.kv_heads = 8, .dtype = dtype, .device = DeviceKind::cuda};
    return resolve_variant({.kernel = "dilated"}, work, &gpu)->name;
  };
  EXPECT_EQ(best(90, Dtype::bf16), "dilated_wgmma");
  EXPECT_EQ(best(90, Dtype::fp32), "dilated_simt");
  EXPECT_EQ(best(86, Dtype::fp16), "dilated_mma");
  EXPECT_EQ(best(75, Dtype::fp16), "dilated_simt");
  EXPECT_EQ(best(120, Dtype::bf16), "dilated_mma");
}

TEST(Table, NamesResolveToThemselves) {
  EXPECT_EQ(resolve_variant({.kernel = "gemm", .baseline = true}, kOnCpu, nullptr),
            find_variant("gemm", DeviceKind::cpu));
  EXPECT_EQ(resolve_variant({.kernel = "dilated_cpu"}, {.device = DeviceKind::cuda}, nullptr), nullptr);
  EXPECT_EQ(resolve_variant({.kernel = "nonsense"}, kOnCpu, nullptr), nullptr);
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
