// Ratios between two records.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "reports/records/record.hpp"

namespace hilbench {

struct Measured {
  double ratio = 0;           // reference / variant: above 1 says that the variant needs less
  Interval ci;                // 95 % of a time; both ends equal the ratio where it is an exact count
  std::size_t processes = 0;  // that timed it; 0: counted, not timed
};

// Kernel time of `reference` over that of `variant` plus `added_ns`. Nothing where one of them has no time,
// their rounds do not pair, or another process used the device.
std::optional<Measured> time_ratio(const Record& reference, const Record& variant, double added_ns = 0);
// Time of `reference` over that of `variant`, of different comparisons: nothing pairs their rounds, so the
// intervals of both medians add up, and what drifted in between is not in it.
std::optional<Measured> unpaired_time_ratio(const Record& reference, const Record& variant);
// The same for a counter and for memory: counts have no interval of their own.
std::optional<Measured> counter_ratio(const Record& reference, const Record& variant,
                                      const std::string& name);
std::optional<Measured> memory_ratio(const Record& reference, const Record& variant);

// Said where sign_settled (stats.hpp) is false.
inline constexpr std::string_view kUnsettled = "within 1 % of 1 in one process: the sign is not settled";

}  // namespace hilbench
