#include "kernels/base/text/byte_size.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <utility>

#include "kernels/base/text/error.hpp"
#include "kernels/base/text/text.hpp"

namespace hilbench {
namespace {

constexpr std::array<std::pair<std::string_view, double>, 9> kUnits = {{{"b", 1},
                                                                        {"kb", 1e3},
                                                                        {"mb", 1e6},
                                                                        {"gb", 1e9},
                                                                        {"tb", 1e12},
                                                                        {"kib", 0x1p10},
                                                                        {"mib", 0x1p20},
                                                                        {"gib", 0x1p30},
                                                                        {"tib", 0x1p40}}};

bool has_leading_zero(std::string_view digits) {
  return digits.size() > 1 && digits[0] == '0' && digits[1] != '.';
}

}  // namespace

std::int64_t parse_bytes(const std::string& text, const std::string& where) {
  const auto refuse = [&](const char* why) {
    throw UsageError({.what = fmt::format("'{}' is not a memory size", one_line(text, 80)),
                      .where = where,
                      .why = why,
                      .remedy = "write a decimal number and a unit: 80GB, 8GiB, 1.5TB"});
  };
  const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  std::string unit = text.substr(std::min(text.find_first_not_of(' ', end), text.size()));
  std::transform(unit.begin(), unit.end(), unit.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto known =
      std::find_if(kUnits.begin(), kUnits.end(), [&](const auto& each) { return each.first == unit; });
  double number = 0;
  const auto [stop, error] =
      std::from_chars(text.data(), text.data() + end, number, std::chars_format::fixed);
  if (end == 0 || error != std::errc() || stop != text.data() + end || has_leading_zero(text))
    refuse("it does not begin with a decimal number");
  if (known == kUnits.end())
    refuse(unit.empty() ? "it has no unit" : "its unit is none of B, kB, MB, GB, TB, KiB, MiB, GiB, TiB");
  const double bytes = number * known->second;
  if (bytes < 1 || bytes > 0x1p62) refuse("it is not between a byte and 2^62 bytes");
  return static_cast<std::int64_t>(bytes);
}

}  // namespace hilbench
