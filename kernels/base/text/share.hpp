// Shares and durations as people write them.
#pragma once

#include <string>
#include <string_view>

namespace hilbench {

// "0.05" or "5%": 0.05. From 0 to `most`. Throws UsageError that names `where`.
double parse_share(const std::string& text, std::string_view where, double most = 1);
// "3", "90s", "3m" or "1h" as seconds: above 0, at most 10^7. Throws UsageError that names `where`.
double parse_duration(const std::string& text, std::string_view where);
// "45 s", "3 min 20 s", "2 h 5 min"
std::string duration_text(double seconds);

}  // namespace hilbench
