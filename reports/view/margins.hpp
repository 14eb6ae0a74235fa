// The margin: the smallest effect worth a name. The larger of what the sweep asks for and of what twins,
// which compute the same as their references, differ by on this machine.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reports/records/record.hpp"

namespace hilbench {

// Noise differs with the length of an execution: under 25 us, under 1 ms, longer.
enum class DurationClass { under_25_us, under_1_ms, longer };
DurationClass duration_class(double ns);

// With fewer twins of other comparisons nothing is known of noise, and the asked margin counts.
inline constexpr std::size_t kFewestTwins = 20;

// The processor and the GPU, as far as the record names them.
std::string machine_text(const Record& record);

// abs(ln(reference / twin)) of the twins of a sweep, by machine and duration of their references.
class TwinDistances {
 public:
  void add(const Record& twin, double reference_ns, double log_ratio);
  // The 95th percentile (nearest rank) over twins of other cases than that of `record`, as a share: 0.01 is
  // ln(1.01). Nothing if there are fewer than kFewestTwins.
  std::optional<double> noise(const Record& record, double reference_ns) const;

 private:
  using Key = std::pair<std::string, DurationClass>;
  std::map<Key, std::vector<std::pair<double, std::string>>> distances_;  // with the case of the twin
};

std::string margin_text(double margin);  // "1 %"

}  // namespace hilbench
