// Plans of small sweeps on a machine that tests describe.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "harness/plan/plan.hpp"
#include "harness/sweep/sweep.hpp"

namespace hilbench {

inline Site planning_site() {
  Site site;
  site.host.cores = 4;
  site.host.available_memory_bytes = std::int64_t{1} << 30;
  site.host.nominal_ghz = 2;
  return site;
}

inline Plan plan_of(const std::string& keys, const Site& site = planning_site()) {
  return make_plan(parse_sweep("name: plan\n" + keys, "plan.yaml"), site);
}

inline constexpr const char* kVariants =
    "variants: [{kernel: dilated, order: [linear, hilbert]}]\nbaselines: [gemm, peak]\n";

// The only comparison of a sweep with one point of `parameters`.
inline Comparison comparison_of(const std::string& parameters, const Site& site = planning_site()) {
  const Plan plan = plan_of("cases:\n  - {" + parameters + "}\n" + kVariants, site);
  EXPECT_EQ(plan.comparisons.size(), 1u);
  return plan.comparisons.at(0);
}

inline void expect_skipped(const PlannedVariant& planned, const std::string& reason) {
  ASSERT_TRUE(planned.skip) << planned.variant_id;
  EXPECT_NE(planned.skip->find(reason), std::string::npos) << planned.variant_id << ": " << *planned.skip;
}

// The only variant of the only case.
inline PlannedVariant planned(const std::string& parameters, const std::string& variant, const Site& site) {
  return plan_of("cases:\n  - {sequence_length: 4096, " + parameters + "}\nvariants: [{" + variant + "}]\n",
                 site)
      .comparisons.at(0)
      .variants.at(0);
}

}  // namespace hilbench
