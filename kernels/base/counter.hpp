// A counter's value, whoever read it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hilbench {

// A counter that was read, or the reason why it was not. Never 0 for "not read".
struct Counter {
  std::optional<double> value;
  std::string unit;
  std::string source;  // perf | layout | measured | cupti_range ...
  int passes = 0;
  std::string reason;         // why there is no value
  std::vector<double> ranks;  // of a ring, where each rank counted: its own values, by rank
};

// NAME_hit_rate is a share of a whole. Counts that are taken while work is in flight agree to a part in a
// thousand: a rate that is further outside of 0 to 1 loses its value, with the reason; one that is nearer
// becomes 0 or 1, and its source says what it was.
void check_share(std::string_view name, Counter& counter);

}  // namespace hilbench
