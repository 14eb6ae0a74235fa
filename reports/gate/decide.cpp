#include "reports/gate/decide.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "kernels/base/text/error.hpp"
#include "reports/records/student.hpp"

namespace hilbench {
namespace {

constexpr double kPower = 0.9;  // of smallest_seen()

double quantile(double level, const Mean& mean) {
  return student_quantile(1 - level, mean.freedom);
}

}  // namespace

GateRule gate_rule(double threshold, std::size_t judged_cases) {
  const double cases = static_cast<double>(std::max<std::size_t>(judged_cases, 1));
  return {.threshold = threshold, .alarm_level = std::sqrt(kFalseAlarms / cases), .missed_level = kMissed};
}

std::size_t pairs_at(std::size_t look, std::size_t processes) {
  return static_cast<std::size_t>(std::llround(kLooks[look].processes * static_cast<double>(processes)));
}

void expect_threshold(const std::optional<double>& threshold, std::string_view option) {
  if (threshold != 0.0) return;
  throw UsageError({.what = "no measurement can show that nothing was lost at all",
                    .where = fmt::format("{} 0", option),
                    .remedy = "give a share above 0, such as 2.5%"});
}

GateRule stored_rule(double threshold, std::size_t judged_cases) {
  const double cases = static_cast<double>(std::max<std::size_t>(judged_cases, 1));
  return {.threshold = threshold, .alarm_level = kFalseAlarms / cases, .missed_level = kMissed / 2};
}

std::string_view to_string(GateVerdict verdict) {
  constexpr std::array<std::string_view, 4> kNames = {"ok", "slower", "faster", "undecided"};
  return kNames[static_cast<std::size_t>(verdict)];
}

double smallest_seen(const Mean& slowdown, const GateRule& rule) {
  if (slowdown.freedom <= 0) return std::numeric_limits<double>::infinity();
  return std::expm1((quantile(rule.alarm_level, slowdown) + quantile(1 - kPower, slowdown)) * slowdown.error);
}

GateVerdict decide(const Mean& slowdown, const GateRule& rule) {
  if (slowdown.freedom <= 0) return GateVerdict::undecided;
  const double threshold = std::log1p(rule.threshold);
  const double alarm = quantile(rule.alarm_level, slowdown) * slowdown.error;
  if (slowdown.value - alarm > threshold) return GateVerdict::slower;
  if (slowdown.value + alarm < -threshold) return GateVerdict::faster;
  const bool below = slowdown.value + quantile(rule.missed_level, slowdown) * slowdown.error < threshold;
  return below && smallest_seen(slowdown, rule) <= rule.threshold ? GateVerdict::ok : GateVerdict::undecided;
}

}  // namespace hilbench
