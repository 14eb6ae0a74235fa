#include "reports/view/margins.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace hilbench {

DurationClass duration_class(double ns) {
  if (ns < 25e3) return DurationClass::under_25_us;
  return ns < 1e6 ? DurationClass::under_1_ms : DurationClass::longer;
}

std::string machine_text(const Record& record) {
  return environment_text(record, "host", "cpu") + " | " + environment_text(record, "device", "name");
}

void TwinDistances::add(const Record& twin, double reference_ns, double log_ratio) {
  if (!std::isfinite(log_ratio)) return;
  distances_[{machine_text(twin), duration_class(reference_ns)}].emplace_back(std::abs(log_ratio),
                                                                              twin.case_id);
}

std::optional<double> TwinDistances::noise(const Record& record, double reference_ns) const {
  const auto found = distances_.find({machine_text(record), duration_class(reference_ns)});
  if (found == distances_.end()) return std::nullopt;
  std::vector<double> others;
  for (const auto& [distance, case_id] : found->second)
    if (case_id != record.case_id) others.push_back(distance);
  if (others.size() < kFewestTwins) return std::nullopt;
  const std::size_t rank = (95 * others.size() + 99) / 100;  // ceil(0.95 n), counted from 1
  const auto place = others.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::nth_element(others.begin(), place, others.end());
  return std::expm1(*place);
}

std::string margin_text(double margin) {
  return fmt::format("{:.3g} %", 100 * margin);
}

}  // namespace hilbench
