// Ratios between two records, with the verdict on each.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/records/effect.hpp"
#include "reports/records/record.hpp"

namespace hilbench {

// Samples of `reference` against those of `variant`, each plus `added_ns`. Nothing if one of them has no
// time, their rounds do not pair, or another process used the device.
std::optional<Effect> time_effect(const Record& reference, const Record& variant, double added_ns = 0);
// Time of `reference` / (time of `variant` + `added_ns`). Against the reference of the comparison it is the
// speedup of the record; any other pair is judged by itself, with the margin of the comparison.
std::optional<Measured> time_ratio(const Record& reference, const Record& variant, double added_ns = 0);
// The same for the steps of a chain, whose ratios multiply to that of its ends (additive_effect).
std::optional<Measured> chained_time_ratio(const Record& reference, const Record& variant);
// The same from different comparisons: their rounds do not pair. Drift of the machine between the two is not
// included.
std::optional<Measured> unpaired_time_ratio(const Record& reference, const Record& variant,
                                            double added_ns = 0);
// The same for a counter and for memory, which are exact.
std::optional<Measured> counter_ratio(const Record& reference, const Record& variant,
                                      const std::string& name);
// The same with an interval, if both were counted several times.
std::optional<Measured> counted_ratio(const Record& reference, const Record& variant,
                                      const std::string& name);
std::optional<Measured> memory_ratio(const Record& reference, const Record& variant);
Measured exact_ratio(double ratio);

// One ratio for many cases: the median, an interval that spans all their intervals, and the verdict if all
// have the same, otherwise `inconclusive`. Nothing if there are none.
std::optional<Measured> over_all(const std::vector<Measured>& each);

// The margin that a ratio of the two is judged by: the larger of theirs.
double common_margin(const Record& a, const Record& b);

// "faster", "equivalent within 1 %", "inconclusive, within one process".
std::string verdict_words(Verdict verdict, std::size_t processes, double margin);

}  // namespace hilbench
