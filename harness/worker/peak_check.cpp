#include "harness/worker/peak_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "reports/records/stats.hpp"

namespace hilbench {
namespace {

constexpr double kPeakMargin = 1.05;

// FLOP/s per device at the median time; 0 if no unit bounds the variant.
double rate_of(const VerifiedVariant& variant) {
  const Record& record = variant.record;
  const Implementation& implementation = variant.prepared->implementation();
  if (!record.flops || !implementation.has_output || implementation.peak_unit(record.work).empty()) return 0;
  return *record.flops / variant.prepared->traits().devices / (median(record.time->samples_ns) * 1e-9);
}

void hold_against(VerifiedVariant& variant, std::string_view unit, double peak) {
  const double rate = rate_of(variant);
  if (rate <= 0) return;
  variant.record.judging_peak = peak * variant.prepared->traits().devices;
  if (rate <= kPeakMargin * peak) return;
  variant.record.status = Status::invalid;
  variant.record.reason =
      fmt::format("{:.1f} GFLOP/s is above the measured {} peak of {:.1f}: some work did not run",
                  rate * 1e-9, unit, peak * 1e-9);
}

}  // namespace

void check_against_peak(std::vector<VerifiedVariant>& variants, const Case& work, Device& device) {
  const auto unit_of = [&](const VerifiedVariant& variant) {
    return variant.prepared->implementation().peak_unit(work);
  };
  std::map<std::string_view, double> fastest;  // FLOP/s by unit
  for (const VerifiedVariant& variant : variants)
    if (const double rate = rate_of(variant); rate > 0) {
      double& most = fastest[unit_of(variant)];
      most = std::max(most, rate);
    }
  for (const auto& [unit, rate] : fastest) {
    const std::optional<double> peak = device.peak_flops(unit, rate / kPeakMargin);
    if (!peak) continue;
    for (VerifiedVariant& variant : variants)
      if (unit_of(variant) == unit) hold_against(variant, unit, *peak);
  }
}

}  // namespace hilbench
