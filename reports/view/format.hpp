// Numbers as text for people: significant digits, units, intervals. ASCII, the same on every locale.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "reports/records/record.hpp"

namespace hilbench {

// "0.9987", "12.35", "1235": at least `significant` digits, never an exponent between 1e-4 and 1e15.
std::string number_text(double value, int significant = 4);
// All digits, for data files; "" if there is no value.
std::string data_text(std::optional<double> value);
std::string time_text(double ns);                             // "12.35 ms"
std::string time_text(double median_ns, const Interval& ci);  // "12.35 ms [12.30, 12.41]"
std::string ratio_text(double ratio, const Interval& ci);     // "1.023 [1.010, 1.036]"
std::string bytes_text(double bytes);                         // "12.35 MiB"
std::string rate_text(double flops_per_s);                    // "123.5 GFLOP/s"
std::string percent_text(double fraction);                    // "12.3 %"
// "n 8192, 2048/1 + 4096/2": length, then segment/dilation of each branch.
std::string pattern_text(const Case& work);
std::string case_text(const Case& work);  // the same, then heads, head_dim and dtype
// The same, then every option that is not at its default: no two cases of a device and ring size read alike.
std::string whole_case_text(const Case& work);
// "1 case", "3 cases".
std::string plural(std::size_t count, const char* one, const char* many);

}  // namespace hilbench
