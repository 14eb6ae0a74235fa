// Ratios between two records.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "reports/records/record.hpp"

namespace hilbench {

struct Measured {
  double ratio = 0;           // reference / variant: above 1, the variant needs less
  Interval ci;                // of a time: 95 %; of an exact count: both ends equal the ratio
  std::size_t processes = 0;  // that timed it; 0: counted, not timed
};

// Time of `reference` / (time of `variant` + `added_ns`). Nothing if one of them has no time, their rounds do
// not pair, or another process used the device.
std::optional<Measured> time_ratio(const Record& reference, const Record& variant, double added_ns = 0);
// Time of `reference` / time of `variant`, from different comparisons: their rounds do not pair, so the
// intervals of both medians add up. Drift of the machine between the two is not included.
std::optional<Measured> unpaired_time_ratio(const Record& reference, const Record& variant);
// The same for a counter and for memory, which are exact.
std::optional<Measured> counter_ratio(const Record& reference, const Record& variant,
                                      const std::string& name);
std::optional<Measured> memory_ratio(const Record& reference, const Record& variant);

// Of a ratio whose sign is not settled (see sign_settled in stats.hpp); and the same with the reason.
inline constexpr std::string_view kUnsettled = "sign not settled";
inline constexpr std::string_view kUnsettledWhy = "sign not settled (one process, within 1 % of 1)";

}  // namespace hilbench
