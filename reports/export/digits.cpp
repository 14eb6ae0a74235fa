#include "reports/export/digits.hpp"

#include <fmt/format.h>

#include <cmath>

#include "reports/records/stats.hpp"
#include "reports/view/format.hpp"

namespace hilbench {

std::optional<int> supported_place(const Interval& ci) {
  const double half = (ci.high - ci.low) / 2;
  if (!std::isfinite(half) || half <= 0) return std::nullopt;
  return 1 - static_cast<int>(std::floor(std::log10(half)));
}

std::string rounded_text(double value, int place) {
  if (!std::isfinite(value)) return "";
  if (place >= 0) return fmt::format("{:.{}f}", value, place);
  const double unit = std::pow(10.0, -place);
  return fmt::format("{:.0f}", std::round(value / unit) * unit);
}

std::string supported_text(double value, const Interval& ci) {
  const std::optional<int> place = supported_place(ci);
  return place ? rounded_text(value, *place) : data_text(value);
}

Interval rate_interval(double rate, const Timing& time) {
  const Interval& ns = time.ci_ns;
  if (!std::isfinite(ns.low) || !std::isfinite(ns.high) || ns.low <= 0) return kUnknownInterval;
  return {rate * time.median_ns / ns.high, rate * time.median_ns / ns.low};
}

}  // namespace hilbench
