// The value of one counter, from any source.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hilbench {

// A counter that was read, or the reason why it was not. A counter that was not read is never 0.
struct Counter {
  std::optional<double> value;
  std::string unit;
  std::string source;  // perf | layout | measured | cupti_range ...
  int passes = 0;
  std::string reason;          // why there is no value
  std::vector<double> ranks;   // of a ring: what each rank counted in the last count, if ranks count
  std::vector<double> counts;  // in the sequence counted; `value` is their median. Empty: counted once
};

// Checks a counter named NAME_hit_rate, which must lie between 0 and 1. Counts that are taken while work is
// in flight agree to one part in a thousand. A rate outside of 0 to 1 by at most that becomes 0 or 1, and its
// source shows what it was; a rate further outside loses its value and gets a reason. Other counters stay.
void check_share(std::string_view name, Counter& counter);

}  // namespace hilbench
