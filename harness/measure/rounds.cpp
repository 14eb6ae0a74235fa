#include "harness/measure/rounds.hpp"

#include <algorithm>
#include <cmath>

#include "reports/records/stats.hpp"

namespace hilbench {
namespace {

// The standard deviation that normal values with this median of absolute deviations have.
double robust_deviation(std::vector<double> values) {
  const double centre = median(values);
  for (double& value : values) value = std::abs(value - centre);
  return 1.4826 * median(values);
}

}  // namespace

std::int64_t rounds_wanted(const std::vector<VerifiedVariant>& variants,
                           const std::vector<TimedSamples>& samples, std::optional<std::size_t> reference,
                           const Measure& measure) {
  constexpr double kMedianWidth = 1.96 * 1.2533;  // half-width of 95 %, in deviations / sqrt(rounds)
  double wanted = 0;
  for (std::size_t v = 0; v < variants.size(); ++v) {
    if (!variants[v].prepared->implementation().has_output || v == reference) continue;
    std::vector<double> logs(samples[v].ns.size());
    for (std::size_t i = 0; i < logs.size(); ++i)
      logs[i] = std::log(samples[v].ns[i]) - (reference ? std::log(samples[*reference].ns[i]) : 0);
    wanted = std::max(wanted, std::pow(kMedianWidth * robust_deviation(logs) / measure.interval, 2));
  }
  return static_cast<std::int64_t>(std::ceil(std::min(wanted, 1e9)));
}

std::int64_t fewest_rounds(const Measure& measure) {
  constexpr std::int64_t kFewest = 6, kFewestSteady = 3;
  // Steady rounds take seconds: several processes share the fewest.
  const std::int64_t steady = (kFewestSteady + measure.processes - 1) / measure.processes;
  return std::min(measure.steady ? steady : kFewest, measure.min_rounds);
}

void TimingBudget::begin_rounds() {
  if (!bends()) start_ = std::chrono::steady_clock::now();
}

double TimingBudget::spent_s() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

bool TimingBudget::spent(std::int64_t round, double longest_s) const {
  if (bends()) return round > 0 && spent_s() + longest_s > measure_.budget_s;
  return round >= fewest_rounds(measure_) && spent_s() >= measure_.budget_s;
}

}  // namespace hilbench
