#include "kernels/base/text/integer.hpp"

#include <charconv>
#include <limits>
#include <system_error>

namespace hilbench {
namespace {

std::int64_t unit_of(char letter) {
  switch (letter) {
    case 'k':
      return std::int64_t{1} << 10;
    case 'M':
      return std::int64_t{1} << 20;
    case 'G':
      return std::int64_t{1} << 30;
    default:
      return 1;
  }
}

}  // namespace

std::optional<std::int64_t> integer_of(std::string_view text) {
  using Limits = std::numeric_limits<std::int64_t>;
  const bool negative = text.starts_with('-');
  const std::int64_t unit = text.empty() ? 1 : unit_of(text.back());
  const std::string_view number = text.substr(0, text.size() - (unit > 1 ? 1 : 0));
  const std::string_view digits = number.substr(negative ? 1 : 0);
  const bool plain = !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos;
  if (!plain || (digits.size() > 1 && digits[0] == '0')) return std::nullopt;
  std::int64_t value = 0;
  const auto read = std::from_chars(number.data(), number.data() + number.size(), value);
  if (read.ec == std::errc::result_out_of_range || __builtin_mul_overflow(value, unit, &value))
    return negative ? Limits::min() : Limits::max();
  return value;
}

std::string size_text(std::int64_t value) {
  for (const char letter : {'G', 'M', 'k'})
    if (value != 0 && value % unit_of(letter) == 0) return std::to_string(value / unit_of(letter)) + letter;
  return std::to_string(value);
}

}  // namespace hilbench
