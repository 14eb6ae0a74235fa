// The model against published records: each comparison is predicted from the others.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "harness/predict/fit.hpp"
#include "reports/view/results.hpp"
#include "tests/sanitized.hpp"

namespace hilbench {
namespace {

constexpr std::size_t kFolds = 6;

// Records of `samples`, without those of every kFolds-th case, or those alone.
std::vector<RingSample> fold(const std::vector<RingSample>& samples, const std::vector<std::string>& cases,
                             std::size_t number, bool out) {
  std::vector<RingSample> taken;
  for (const RingSample& sample : samples) {
    const auto at = std::find(cases.begin(), cases.end(), sample.record->case_id) - cases.begin();
    if ((static_cast<std::size_t>(at) % kFolds == number) == out) taken.push_back(sample);
  }
  return taken;
}

// Rings of one and two H200 over NVLink, 36 cases: dense, dilated, local and mixed patterns, full and causal.
TEST(PublishedRings, AreWhatTheOthersPredict) {
  const ReportInput input = read_exported(HILBENCH_PUBLISHED "/h200-x2/ring-peer");
  auto groups = ring_samples(input.records);
  ASSERT_EQ(groups.size(), 1u);
  const auto& [group, samples] = *groups.begin();
  std::set<std::string> names;
  for (const RingSample& sample : samples) names.insert(sample.record->case_id);
  const std::vector<std::string> cases(names.begin(), names.end());
  EXPECT_EQ(cases.size(), 36u);
  std::vector<double> all, local;
  std::size_t inside = 0;
  const std::size_t folds = kSanitized ? 1 : kFolds;
  for (std::size_t number = 0; number < folds; ++number) {
    const RingFit fit(group, fold(samples, cases, number, false), {1, 2});
    for (const RingSample& sample : fold(samples, cases, number, true)) {
      const Estimate said = fit.time(sample.shape, "dilated/linear");
      all.push_back(said.value / sample.ns - 1);
      inside += said.ci.low <= sample.ns && sample.ns <= said.ci.high;
      if (sample.record->ring_algorithm == "local") local.push_back(all.back());
    }
  }
  const Errors errors = errors_of(all), of_local = errors_of(local);
  std::printf("%zu predicted: median %.3f, worst %.3f, %zu inside; local: %zu, median %.3f, worst %.3f\n",
              errors.count, errors.median, errors.worst, inside, of_local.count, of_local.median,
              of_local.worst);
  if (!kSanitized) EXPECT_EQ(errors.count, 126u);
  EXPECT_LT(errors.median, 0.06);
  EXPECT_LT(errors.worst, 0.25);
  EXPECT_LT(of_local.worst, 0.25);
  const double coverage = static_cast<double>(inside) / static_cast<double>(errors.count);
  EXPECT_GE(coverage, 0.9);
}

}  // namespace
}  // namespace hilbench
