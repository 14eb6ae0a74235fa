#include "baselines/table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace hilbench {
namespace {

const Case kOnCpu{.kv_heads = 8, .device = DeviceKind::cpu};

bool is_kernel_name(std::string_view name) {
  const std::vector<std::string_view> names = kernel_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

TEST(Table, EveryVariantIsWhole) {
  std::set<std::pair<std::string_view, DeviceKind>> names;
  for (const Implementation* implementation : implementation_table()) {
    EXPECT_TRUE(names.insert({implementation->name, implementation->device}).second) << implementation->name;
    EXPECT_EQ(find_implementation(implementation->name, implementation->device), implementation);
    EXPECT_FALSE(implementation->help.empty());
    const bool computes_elsewhere = implementation->external || implementation->ring_algorithm;
    EXPECT_TRUE(implementation->library || computes_elsewhere ||
                implementation->kind == ImplementationKind::kernel)
        << implementation->name;
    EXPECT_TRUE(implementation->peak_unit && implementation->why_not && implementation->workspace_bytes)
        << implementation->name;
    EXPECT_EQ(implementation->prepare == nullptr, computes_elsewhere) << implementation->name;
    EXPECT_TRUE(implementation->tile_rows || implementation->kind == ImplementationKind::baseline)
        << implementation->name;
    EXPECT_TRUE(implementation->has_output || implementation->own_flops) << implementation->name;
  }
}

TEST(Table, DilatedIsTheBestKernelOfTheDevice) {
  const Variant dilated{KernelChoice{.name = "dilated"}};
  const Implementation* best = resolve_implementation(dilated, kOnCpu, nullptr);
  ASSERT_NE(best, nullptr);
  EXPECT_EQ(best->name, "dilated_cpu");
}

TEST(Table, ARingAlgorithmComputesWithTheBestKernel) {
  const Variant longnet{BaselineName{"longnet_allgather"}};
  EXPECT_EQ(resolve_implementation(longnet, kOnCpu, nullptr)->name, "dilated_cpu");
}

// A build may be for the GPU of its machine alone: then why it has no PTX, which serves all later ones.
Refusal why_not_every_gpu() {
  return find_implementation("dilated_mma", DeviceKind::cuda)->why_not_on({.compute_capability = 121});
}

TEST(Table, DilatedDependsOnTheGpuAndTheDtype) {
  const Implementation* wgmma = find_implementation("dilated_wgmma", DeviceKind::cuda);
  const Case dense{.kv_heads = 8, .dtype = Dtype::bf16, .device = DeviceKind::cuda};
  if (const auto reason = wgmma->why_not(dense, {})) GTEST_SKIP() << *reason;
  if (const auto reason = why_not_every_gpu()) GTEST_SKIP() << *reason;
  const auto best = [&](int capability, Dtype dtype, std::int64_t head_dim = 64) {
    const Gpu gpu{.compute_capability = capability};
    Case work = dense;
    work.dtype = dtype;
    work.head_dim = head_dim;
    return resolve_implementation({KernelChoice{.name = "dilated"}}, work, &gpu)->name;
  };
  EXPECT_EQ(best(90, Dtype::bf16), "dilated_wgmma");
  for (std::int64_t head_dim = 32; head_dim <= 256; head_dim += 8)
    EXPECT_EQ(best(90, Dtype::bf16, head_dim), "dilated_wgmma") << head_dim;
  EXPECT_EQ(best(90, Dtype::bf16, 24), "dilated_simt");
  Case narrow = dense;
  narrow.head_dim = 24;
  EXPECT_EQ(wgmma->why_not(narrow, {}), "dilated_wgmma has head_dim 32 to 256 in steps of 8, not 24");
  EXPECT_EQ(best(90, Dtype::fp32), "dilated_simt");
  EXPECT_EQ(best(86, Dtype::fp16), "dilated_mma");
  EXPECT_EQ(best(75, Dtype::fp16), "dilated_simt");
  EXPECT_EQ(best(120, Dtype::bf16), "dilated_mma");
}

TEST(Table, KernelsForGpusAreKnownInEveryBuildAndSayWhatTheyLack) {
  for (const std::string_view name : {"dilated_wgmma", "dilated_mma", "dilated_simt"}) {
    EXPECT_TRUE(is_kernel_name(name)) << name;
    const Implementation* implementation = find_implementation(name, DeviceKind::cuda);
    ASSERT_NE(implementation, nullptr) << name;
    const Case work{.kv_heads = 8, .dtype = Dtype::bf16, .device = DeviceKind::cuda};
    if (const auto reason = implementation->why_not(work, {})) {
      EXPECT_EQ(reason->find("this build has no"), 0u) << *reason;
      continue;
    }
    // GPUs this old are not supported, whatever was compiled.
    const Gpu fermi{.compute_capability = 20};
    EXPECT_TRUE(implementation->why_not_on(fermi)) << name;
  }
}

TEST(Table, AGpuThatNoCompiledCodeRunsOnIsToldSo) {
  const Implementation* wgmma = find_implementation("dilated_wgmma", DeviceKind::cuda);
  const Case work{.kv_heads = 8, .dtype = Dtype::bf16, .device = DeviceKind::cuda};
  if (const auto reason = wgmma->why_not(work, {})) GTEST_SKIP() << *reason;
  if (const auto reason = why_not_every_gpu()) GTEST_SKIP() << *reason;
  const auto reason_on = [](std::string_view name, int capability) {
    return find_implementation(name, DeviceKind::cuda)->why_not_on({.compute_capability = capability});
  };
  EXPECT_EQ(reason_on("dilated_wgmma", 90), std::nullopt);
  EXPECT_TRUE(reason_on("dilated_wgmma", 100));
  // The PTX of a default build serves later GPUs.
  EXPECT_EQ(reason_on("dilated_mma", 121), std::nullopt);
  EXPECT_EQ(reason_on("dilated_simt", 89), std::nullopt);
  EXPECT_TRUE(reason_on("dilated_mma", 75));
}

TEST(Table, NamesResolveToThemselves) {
  EXPECT_EQ(resolve_implementation({BaselineName{"gemm"}}, kOnCpu, nullptr),
            find_implementation("gemm", DeviceKind::cpu));
  EXPECT_EQ(
      resolve_implementation({KernelChoice{.name = "dilated_cpu"}}, {.device = DeviceKind::cuda}, nullptr),
      nullptr);
  EXPECT_EQ(resolve_implementation({KernelChoice{.name = "nonsense"}}, kOnCpu, nullptr), nullptr);
}

TEST(Table, KernelsAndBaselinesAreKeptApart) {
  EXPECT_TRUE(is_kernel_name("dilated"));
  EXPECT_TRUE(is_kernel_name("dilated_cpu"));
  for (const char* baseline : {"gemm", "peak", "longnet_allgather"})
    EXPECT_FALSE(is_kernel_name(baseline)) << baseline;
}

}  // namespace
}  // namespace hilbench
