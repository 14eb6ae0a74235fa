// Numbers without digits that are noise: an interval says how many its value has.
#pragma once

#include <optional>
#include <string>

#include "reports/records/record.hpp"

namespace hilbench {

// The decimal place that `ci` supports: that of the second digit of half its width. 3: thousandths, 0: ones,
// -2: hundreds. Rounded there, a value moves by at most a twentieth of half the width. Nothing if the
// interval is unknown or has no width.
std::optional<int> supported_place(const Interval& ci);

// `value` rounded to a decimal place: "1.2340" (4), "1200" (-2). "" if it is not finite.
std::string rounded_text(double value, int place);

// `value` with the digits that `ci` supports, all digits if it supports no number of them; "" if `value` is
// not finite.
std::string supported_text(double value, const Interval& ci);

// The interval of a rate such as TFLOP/s, which is inversely proportional to the time. Unknown if that of the
// time is.
Interval rate_interval(double rate, const Timing& time);

}  // namespace hilbench
