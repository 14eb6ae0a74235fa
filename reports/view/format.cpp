#include "reports/view/format.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "kernels/case/mask_blocks.hpp"
#include "kernels/case/windows.hpp"

namespace hilbench {
namespace {

struct Unit {
  double size;
  std::string_view name;
};
constexpr std::array<Unit, 4> kTimes = {{{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}}};
constexpr std::array<Unit, 4> kBytes = {
    {{1024.0 * 1024 * 1024, "GiB"}, {1024.0 * 1024, "MiB"}, {1024, "KiB"}, {1, "B"}}};
constexpr std::array<Unit, 3> kRates = {{{1e12, "TFLOP/s"}, {1e9, "GFLOP/s"}, {1e6, "MFLOP/s"}}};

// The largest unit in which the value is at least 1, otherwise the smallest.
template <std::size_t N>
const Unit& unit_of(const std::array<Unit, N>& units, double value) {
  for (const Unit& unit : units)
    if (std::abs(value) >= unit.size) return unit;
  return units.back();
}

}  // namespace

std::string number_text(double value, int significant) {
  if (!std::isfinite(value)) return "not a number";
  if (value == 0) return "0";
  const double magnitude = std::abs(value);
  if (magnitude < 1e-4 || magnitude >= 1e15)
    return fmt::format("{:.{}e}", value, std::max(significant - 2, 0));
  const int digits = significant - 1 - static_cast<int>(std::floor(std::log10(magnitude)));
  return fmt::format("{:.{}f}", value, std::max(digits, 0));
}

std::string data_text(std::optional<double> value) {
  return value && std::isfinite(*value) ? fmt::format("{}", *value) : "";
}

std::string time_text(double ns) {
  const Unit& unit = unit_of(kTimes, ns);
  return fmt::format("{} {}", number_text(ns / unit.size), unit.name);
}

std::string time_text(double median_ns, const Interval& ci) {
  if (!std::isfinite(ci.low) || !std::isfinite(ci.high)) return time_text(median_ns);
  const double size = unit_of(kTimes, median_ns).size;
  return fmt::format("{} [{}, {}]", time_text(median_ns), number_text(ci.low / size),
                     number_text(ci.high / size));
}

std::string ratio_text(double ratio, const Interval& ci) {
  if (!std::isfinite(ci.low) || !std::isfinite(ci.high)) return number_text(ratio);
  return fmt::format("{} [{}, {}]", number_text(ratio), number_text(ci.low), number_text(ci.high));
}

std::string bytes_text(double bytes) {
  const Unit& unit = unit_of(kBytes, bytes);
  return fmt::format("{} {}", number_text(bytes / unit.size), unit.name);
}

std::string rate_text(double flops_per_s) {
  const Unit& unit = unit_of(kRates, flops_per_s);
  return fmt::format("{} {}", number_text(flops_per_s / unit.size), unit.name);
}

std::string pattern_text(const Case& work) {
  if (has_mask_blocks(work)) {
    const std::string positions = has_grid(work) ? "grid " + list_text(window_fields()[0], work.windows)
                                                 : fmt::format("n {}", work.sequence_length);
    return fmt::format("{}, mask {} of {}", positions, mask_text(work.mask_blocks).substr(0, 8),
                       work.mask_blocks.block);
  }
  if (has_windows(work)) {
    std::vector<std::string> parts;
    const WindowDimension defaults;
    for (const Field<WindowDimension>& field : window_fields())
      if (std::any_of(work.windows.begin(), work.windows.end(),
                      [&](const WindowDimension& each) { return field.get(each) != field.get(defaults); }))
        parts.push_back(fmt::format("{} {}", field.name, list_text(field, work.windows)));
    if (work.edges != Edges::shift) parts.emplace_back("edges cut");
    return fmt::format("{}", fmt::join(parts, ", "));
  }
  std::vector<std::string> branches;
  for (const Branch& branch : work.pattern)
    branches.push_back(fmt::format("{}/{}", branch.segment_length, branch.dilation));
  return fmt::format("n {}, {}", work.sequence_length, fmt::join(branches, " + "));
}

std::string case_text(const Case& work) {
  return fmt::format("{}, h {}, d {}, {}", pattern_text(work), work.heads, work.head_dim,
                     to_string(work.dtype));
}

std::string whole_case_text(const Case& work) {
  constexpr std::array<std::string_view, 8> kSaid = {"sequence_length", "heads",     "head_dim", "dtype",
                                                     "causal",          "ring_size", "device",   "edges"};
  std::string text = case_text(work) + (work.mask == Mask::causal ? ", causal" : "");
  Case defaults;
  defaults.kv_heads = work.heads;
  for (const Field<Case>& field : case_fields())
    if (std::find(kSaid.begin(), kSaid.end(), field.name) == kSaid.end() &&
        field.get(work) != field.get(defaults))
      text += fmt::format(", {} {}", field.name, field_text(field, field.get(work)));
  return text;
}

std::string percent_text(double fraction) {
  return fmt::format("{:.1f} %", fraction * 100);
}

std::string plural(std::size_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace hilbench
