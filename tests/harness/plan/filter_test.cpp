#include "harness/plan/filter.hpp"

#include <gtest/gtest.h>

#include "kernels/base/text/error.hpp"

namespace hilbench {
namespace {

Plan two_lengths() {
  Site site;
  site.host.cores = 4;
  site.host.available_memory_bytes = std::int64_t{1} << 30;
  site.host.nominal_ghz = 2;
  return make_plan(parse_sweep("name: plan\n"
                               "axes: {sequence_length: [64, 4096], segments: [[64]], threads: 1}\n"
                               "variants: [{kernel: dilated, order: [linear, hilbert, morton]}]\n",
                               "plan.yaml"),
                   site);
}

std::vector<std::string> ids(const Comparison& comparison) {
  std::vector<std::string> names;
  for (const PlannedVariant& planned : comparison.variants) names.push_back(planned.variant_id);
  return names;
}

TEST(PlanSelection, AFilterKeepsTheReferenceBesideWhatItFinds) {
  const Plan plan = filtered(two_lengths(), "^n64-.*hilbert$");
  ASSERT_EQ(plan.comparisons.size(), 1u);
  EXPECT_EQ(ids(plan.comparisons[0]),
            (std::vector<std::string>{"dilated/linear", "dilated/hilbert", "dilated/linear@twin"}));
  EXPECT_EQ(plan.comparisons[0].reference, 0u);
  EXPECT_EQ(filtered(two_lengths(), "").comparisons.size(), 2u);
}

TEST(PlanSelection, AFilterThatFindsNothingIsRefused) {
  EXPECT_THROW(filtered(two_lengths(), "nosuch"), UsageError);
  EXPECT_THROW(filtered(two_lengths(), "("), UsageError);
  EXPECT_THROW(filtered(two_lengths(), std::string(1001, 'a')), UsageError);
}

TEST(PlanSelection, ALimitSkipsWholeCases) {
  const Plan plan = two_lengths();
  const double short_s = *plan.comparisons[0].variants[0].seconds;
  ASSERT_LT(short_s, *plan.comparisons[1].variants[0].seconds);
  const Plan left = limited(plan, short_s);
  EXPECT_TRUE(left.comparisons[0].runnable());
  EXPECT_FALSE(left.comparisons[1].runnable());
  EXPECT_FALSE(left.comparisons[1].reference);
  EXPECT_NE(left.comparisons[1].variants[2].skip->find("more than --execution-limit"), std::string::npos);
  EXPECT_TRUE(limited(plan, std::nullopt).comparisons[1].runnable());
}

}  // namespace
}  // namespace hilbench
