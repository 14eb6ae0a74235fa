// Names of enumerators in the JSON form of a record, in the order of the enumerators.
#pragma once

#include <array>
#include <string_view>

namespace hilbench {

inline constexpr std::array<std::string_view, 4> kStatuses = {"ok", "skipped", "failed", "invalid"};
inline constexpr std::array<std::string_view, 2> kKinds = {"kernel", "baseline"};
inline constexpr std::array<std::string_view, 2> kCacheStates = {"warm", "cold"};
inline constexpr std::array<std::string_view, 3> kEndTurns = {"first", "last", "interleaved"};
inline constexpr std::array<std::string_view, 5> kVerdicts = {"faster", "slower", "equivalent",
                                                              "inconclusive", "different function"};

}  // namespace hilbench
