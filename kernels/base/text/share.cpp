#include "kernels/base/text/share.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>

#include "kernels/base/text/error.hpp"
#include "kernels/base/text/text.hpp"

namespace hilbench {
namespace {

constexpr double kLongestSeconds = 1e7;

// A finite number of at least 0 that the whole text gives.
std::optional<double> plain_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && std::isfinite(value) && !std::signbit(value) ? std::optional(value) : std::nullopt;
}

[[noreturn]] void refuse(const char* what, const std::string& text, std::string_view where,
                         const std::string& remedy) {
  throw UsageError({.what = fmt::format("'{}' is no {}", one_line(text, 80), what),
                    .where = std::string(where),
                    .remedy = remedy});
}

}  // namespace

double parse_share(const std::string& text, std::string_view where, double most) {
  const bool percent = !text.empty() && text.back() == '%';
  const auto number = plain_number(std::string_view(text).substr(0, text.size() - (percent ? 1 : 0)));
  const double share = number.value_or(-1) / (percent ? 100 : 1);
  if (share < 0 || share > most)
    refuse("share", text, where, fmt::format("write 0.05 or 5%; at most {:g}%", 100 * most));
  return share;
}

double parse_duration(const std::string& text, std::string_view where) {
  const char unit = text.empty() ? ' ' : text.back();
  const double seconds = unit == 's' ? 1 : unit == 'm' ? 60 : unit == 'h' ? 3600 : 0;
  const auto number = plain_number(std::string_view(text).substr(0, text.size() - (seconds > 0 ? 1 : 0)));
  const double value = number.value_or(-1) * (seconds > 0 ? seconds : 1);
  if (value <= 0 || value > kLongestSeconds)
    refuse("duration", text, where, "write 90, 90s, 3m or 1h, above 0");
  return value;
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(seconds + 0.5);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

}  // namespace hilbench
