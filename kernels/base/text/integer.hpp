// Integers as sweeps and options write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hilbench {

// "8192", "-3", or with k, M or G behind the digits, which stand for 2^10, 2^20 and 2^30: "8k" is 8192.
// Nothing if `text` is none of these or has zeros in front. What int64 does not hold becomes its largest or
// smallest value.
std::optional<std::int64_t> integer_of(std::string_view text);

// The shortest of these forms: "8k" for 8192, "9000" for 9000.
std::string size_text(std::int64_t value);

// Shows the form in messages.
inline constexpr std::string_view kIntegerForm =
    "write digits alone, or k, M or G behind them: 8192 or 8k, 1048576 or 1M";

}  // namespace hilbench
