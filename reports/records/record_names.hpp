// Names of enumerators in the JSON form of a record, in the order of the enumerators.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace hilbench {

inline constexpr std::array<std::string_view, 4> kStatuses = {"ok", "skipped", "failed", "invalid"};
inline constexpr std::array<std::string_view, 2> kKinds = {"kernel", "baseline"};
inline constexpr std::array<std::string_view, 5> kVerdicts = {"faster", "slower", "equivalent",
                                                              "inconclusive", "different function"};

// Options that only apply to rings of several ranks.
inline constexpr std::array<std::string_view, 9> kRingOptions = {
    "head_moves",  "head_parts",  "order_span", "outer_link", "ring_algorithm",
    "ring_groups", "ring_launch", "sharding",   "transport"};

inline bool of_rings(std::string_view name) {
  return std::find(kRingOptions.begin(), kRingOptions.end(), name) != kRingOptions.end();
}

}  // namespace hilbench
