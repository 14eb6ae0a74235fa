// Names of values in a record's JSON form, by the value of their enumerator.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace hilbench {

inline constexpr std::array<std::string_view, 4> kStatuses = {"ok", "skipped", "failed", "invalid"};
inline constexpr std::array<std::string_view, 2> kKinds = {"kernel", "baseline"};
inline constexpr std::array<std::string_view, 4> kVerdicts = {"faster", "slower", "no difference shown",
                                                              "different function"};

// Options that mean something on a ring of several ranks only.
inline constexpr std::array<std::string_view, 4> kRingOptions = {"order_span", "ring_algorithm", "sharding",
                                                                 "transport"};

inline bool of_rings(std::string_view name) {
  return std::find(kRingOptions.begin(), kRingOptions.end(), name) != kRingOptions.end();
}

}  // namespace hilbench
