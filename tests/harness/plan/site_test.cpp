#include "harness/plan/site.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "kernels/machine/named_gpus.hpp"
#include "tests/harness/plan/planning.hpp"

namespace hilbench {
namespace {

TEST(Site, EachProcessOfAHostTakesAGpu) {
  const std::vector<Gpu> four = {{.uuid = "a"}, {.uuid = "b"}, {.uuid = "c"}, {.uuid = "d"}};
  EXPECT_EQ(gpu_of_process(four, 0)->uuid, "a");
  EXPECT_EQ(gpu_of_process(four, 3)->uuid, "d");
  EXPECT_EQ(gpu_of_process(four, 5)->uuid, "b") << "more processes than GPUs share them";
  EXPECT_EQ(gpu_of_process({{.uuid = "c"}}, 2)->uuid, "c") << "the launcher shows each process one";
  EXPECT_FALSE(gpu_of_process({}, 0));
}

// Whatever this build lacks.
TEST(Site, WhatNoGpuHoldsIsSaidFirst) {
  const Sweep sweep = parse_sweep(
      "name: plan\ncases: [{sequence_length: 1024, heads: 1099511627776, device: cuda}]\nvariants: [{kernel: "
      "dilated}]\n",
      "plan.yaml");
  const Site site = find_site(sweep, {.use = SiteUse::plan_only, .planned_gpu = named_gpu("h100")});
  expect_skipped(make_plan(sweep, site).comparisons.at(0).variants.at(0),
                 "does not fit: the comparison would need");
}

TEST(Site, APlanTakesTheNamedGpuForThoseOfTheMachine) {
  const Sweep sweep = parse_sweep(
      "name: plan\ncases: [{sequence_length: 4096, device: cuda}]\nvariants: [{kernel: dilated}]\n",
      "plan.yaml");
  for (const std::string& name : names_of_gpus()) {
    const Gpu gpu = named_gpu(name);
    EXPECT_GT(gpu.shared_bytes, 0) << name;
    const Site site = find_site(sweep, {.use = SiteUse::plan_only, .planned_gpu = gpu});
    ASSERT_TRUE(site.gpu) << name;
    EXPECT_EQ(site.gpu->name, gpu.name);
    EXPECT_TRUE(site.gpu_is_assumed);
    EXPECT_EQ(site.gpus, 1) << name;
    const Plan plan = make_plan(sweep, site);
    EXPECT_EQ(plan.comparisons.at(0).gpu, gpu.name);
    EXPECT_EQ(plan.comparisons.at(0).multiprocessors, gpu.multiprocessors);
  }
  EXPECT_EQ(named_gpu("gtx-1080").compute_capability, 61);
  EXPECT_THROW(named_gpu("gtx1080"), std::invalid_argument);
}

}  // namespace
}  // namespace hilbench
