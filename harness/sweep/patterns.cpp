// The patterns of a sweep: `segments` with `dilations`, or windows (windows.cpp).
#include <fmt/format.h>

#include <algorithm>

#include "harness/sweep/parts.hpp"

namespace hilbench {
namespace {

constexpr std::size_t kMostBranches = 64;
constexpr std::int64_t kLongestSegment = std::int64_t{1} << 40;

std::vector<std::int64_t> branch_list(const YamlValue& value) {
  std::vector<std::int64_t> list;
  for (const YamlValue& item : value.scalar_or_items()) list.push_back(item.integer(1, kLongestSegment));
  if (list.size() > kMostBranches) value.fail("more than 64 branches");
  return list;
}

bool names_branches(std::string_view name) {
  return name == "segments" || name == "dilations";
}

}  // namespace

bool names_pattern(std::string_view name) {
  return names_branches(name) || find_field(window_fields(), name) != nullptr;
}

void check_one_pattern(std::string_view name, const YamlValue& value) {
  if (names_branches(name)) branch_lists(value, false);
  if (const Field<WindowDimension>* field = find_field(window_fields(), name))
    dimension_lists(value, *field, false);
}

std::optional<YamlValue> value_named(const std::vector<NamedValue>& values, std::string_view name) {
  for (const NamedValue& each : values)
    if (each.name == name) return each.value;
  return std::nullopt;
}

Patterns read_patterns(const std::vector<NamedValue>& values, Pairing pairing) {
  std::map<std::string, YamlValue> windows;
  const NamedValue* branches = nullptr;
  for (const NamedValue& each : values) {
    if (names_branches(each.name))
      branches = &each;
    else if (names_pattern(each.name))
      windows.emplace(each.name, each.value);
  }
  if (branches != nullptr && !windows.empty())
    branches->value.fail(fmt::format("{} and {}", branches->name, windows.begin()->first),
                         "branches and windows do not mix in one case",
                         "leave out one of the two, or write entries under `cases`");
  Patterns patterns;
  if (!windows.empty()) patterns.windows = window_patterns(windows);
  if (branches != nullptr)
    patterns.branches =
        paired_patterns(value_named(values, "segments"), value_named(values, "dilations"), pairing);
  return patterns;
}

std::vector<std::vector<std::int64_t>> branch_lists(const YamlValue& value, bool several) {
  if (value.is_map())
    value.fail("expects a list of lengths, one for each branch", "a map is only for single integers");
  const std::vector<YamlValue> items = value.scalar_or_items();
  const bool nested = value.is_list() && items.front().is_list();
  if (!nested) return {branch_list(value)};
  if (!several)
    value.fail("expects one pattern", "found a list of patterns", "one entry of `cases` for each pattern");
  std::vector<std::vector<std::int64_t>> lists;
  for (const YamlValue& item : items) {
    if (!item.is_list()) item.fail("expects a list", "the other patterns are lists");
    lists.push_back(branch_list(item));
  }
  return lists;
}

std::vector<std::vector<Branch>> paired_patterns(const std::optional<YamlValue>& segments,
                                                 const std::optional<YamlValue>& dilations, Pairing pairing) {
  using Lists = std::vector<std::vector<std::int64_t>>;
  Lists lengths = segments ? branch_lists(*segments, true) : Lists{{Case().pattern[0].segment_length}};
  Lists rates;
  if (dilations)
    rates = branch_lists(*dilations, true);
  else
    for (const auto& list : lengths) rates.emplace_back(list.size(), 1);
  if (pairing == Pairing::spread && lengths.size() == 1) lengths.resize(rates.size(), Lists(lengths)[0]);
  if (pairing == Pairing::spread && rates.size() == 1) rates.resize(lengths.size(), Lists(rates)[0]);
  const YamlValue& place = dilations ? *dilations : *segments;
  const std::string remedy = "dilations pair with segments one to one, pattern by pattern";
  if (lengths.size() != rates.size())
    place.fail(fmt::format("{} patterns of dilations for {} of segments", rates.size(), lengths.size()), "",
               remedy);
  std::vector<std::vector<Branch>> patterns;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i].size() != rates[i].size())
      place.fail(fmt::format("{} dilations for {} segments in pattern {}", rates[i].size(), lengths[i].size(),
                             i + 1),
                 "", remedy);
    std::vector<Branch> pattern;
    for (std::size_t j = 0; j < lengths[i].size(); ++j) {
      pattern.push_back({lengths[i][j], rates[i][j]});
      if (rates[i][j] > lengths[i][j])
        place.fail(fmt::format("dilation {} is larger than its segment {}", rates[i][j], lengths[i][j]),
                   "most segments would select nothing");
    }
    if (std::find(patterns.begin(), patterns.end(), pattern) == patterns.end()) patterns.push_back(pattern);
  }
  return patterns;
}

}  // namespace hilbench
