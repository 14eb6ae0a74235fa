// The patterns of a sweep: `segments` with `dilations` or, short, `patterns`; or windows (windows.cpp).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/sweep/parts.hpp"
#include "kernels/base/text/integer.hpp"
#include "kernels/base/text/text.hpp"

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
  return name == "segments" || name == "dilations" || name == "patterns";
}

bool names_mask(std::string_view name) {
  return name == "mask" || name == "mask_block";
}

using Lists = std::vector<std::vector<std::int64_t>>;

// The text of a pattern, without the spaces around its signs.
std::string without_spaces(std::string text) {
  std::erase(text, ' ');
  return text;
}

// "2048/1+4096/2". A branch without a rate has the dilation rate 1.
std::vector<Branch> pattern_of(const YamlValue& value) {
  constexpr auto kHowTo = "write SEGMENT/DILATION, joined by + if there are several branches: 2048/1+8k/4";
  if (!value.is_scalar())
    value.fail("one pattern is expected",
               value.is_list() ? "found a list; `axes` takes lists" : "found no text", kHowTo);
  const auto refuse = [&](const std::string& why) {
    value.fail(fmt::format("'{}' is no pattern", one_line(value.text(), 80)), why, kHowTo);
  };
  const std::string text = without_spaces(value.text());
  std::vector<Branch> pattern;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('+', begin), text.size());
    const std::string_view branch = std::string_view(text).substr(begin, end - begin);
    const std::size_t slash = std::min(branch.find('/'), branch.size());
    const auto length = integer_of(branch.substr(0, slash));
    const auto rate =
        slash == branch.size() ? std::optional<std::int64_t>(1) : integer_of(branch.substr(slash + 1));
    if (!length || !rate) refuse(fmt::format("'{}' is no branch", one_line(branch, 80)));
    if (*length < 1 || *length > kLongestSegment || *rate < 1)
      refuse(fmt::format("segment lengths and dilation rates are 1..{}", kLongestSegment));
    if (*rate > *length)
      refuse(fmt::format("dilation {} is larger than its segment {}: most segments would select nothing",
                         *rate, *length));
    pattern.push_back({*length, *rate});
    begin = end + 1;
  }
  if (pattern.size() > kMostBranches) value.fail(fmt::format("more than {} branches", kMostBranches));
  return pattern;
}

// `patterns`: one of them, or a list.
std::vector<std::vector<Branch>> patterns_of(const YamlValue& value) {
  std::vector<std::vector<Branch>> patterns;
  if (value.is_map()) (void)pattern_of(value);  // refused
  for (const YamlValue& item : value.scalar_or_items()) patterns.push_back(pattern_of(item));
  return patterns;
}

// Lengths and rates, and the value that messages about them name.
struct Side {
  Lists lists;
  YamlValue place;
};

// What `segments`, or else `patterns`, say; and the same of `dilations`.
std::optional<Side> side_of(const std::vector<NamedValue>& values, std::string_view name,
                            std::int64_t Branch::*member) {
  if (const auto value = value_named(values, name)) return Side{branch_lists(*value, true), *value};
  const auto patterns = value_named(values, "patterns");
  if (!patterns) return std::nullopt;
  Side side{{}, *patterns};
  for (const std::vector<Branch>& pattern : patterns_of(*patterns)) {
    side.lists.emplace_back();
    for (const Branch& branch : pattern) side.lists.back().push_back(branch.*member);
  }
  return side;
}

}  // namespace

bool names_pattern(std::string_view name) {
  return names_branches(name) || names_mask(name) || find_field(window_fields(), name) != nullptr;
}

void check_one_pattern(std::string_view name, const YamlValue& value) {
  if (name == "patterns")
    (void)pattern_of(value);
  else if (names_branches(name))
    branch_lists(value, false);
  if (names_mask(name) && !value.is_scalar())
    value.fail(fmt::format("{} expects one value", name), "", "one entry of `cases` for each");
  if (const Field<WindowDimension>* field = find_field(window_fields(), name))
    dimension_lists(value, *field, false);
}

std::optional<YamlValue> value_named(const std::vector<NamedValue>& values, std::string_view name) {
  for (const NamedValue& each : values)
    if (each.name == name) return each.value;
  return std::nullopt;
}

Patterns read_patterns(const std::vector<NamedValue>& values, Pairing pairing, MaskFiles& masks) {
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
  if (!windows.empty()) patterns.windows = window_patterns(windows, masks);
  if (branches != nullptr) patterns.branches = paired_patterns(values, pairing);
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

namespace {

// "1024/1+2048/2": how `patterns` would be written.
std::string short_form(std::span<const std::int64_t> lengths, std::span<const std::int64_t> rates) {
  std::vector<std::string> branches;
  for (std::size_t i = 0; i < std::max(lengths.size(), rates.size()); ++i)
    branches.push_back(
        fmt::format("{}/{}", lengths[std::min(i, lengths.size() - 1)], rates[std::min(i, rates.size() - 1)]));
  return fmt::format("{}", fmt::join(branches, "+"));
}

}  // namespace

std::vector<std::vector<Branch>> paired_patterns(const std::vector<NamedValue>& values, Pairing pairing) {
  const std::optional<Side> segments = side_of(values, "segments", &Branch::segment_length);
  const std::optional<Side> dilations = side_of(values, "dilations", &Branch::dilation);
  Lists lengths = segments ? segments->lists : Lists{{Case().pattern[0].segment_length}};
  Lists rates;
  if (dilations)
    rates = dilations->lists;
  else
    for (const auto& list : lengths) rates.emplace_back(list.size(), 1);
  if (lengths.size() == 1) lengths.resize(rates.size(), Lists(lengths)[0]);  // one list serves all
  if (pairing == Pairing::spread && rates.size() == 1) rates.resize(lengths.size(), Lists(rates)[0]);
  const YamlValue& place = dilations ? dilations->place : segments->place;
  if (lengths.size() != rates.size())
    place.fail(fmt::format("{} patterns of dilations for {} of segments", rates.size(), lengths.size()),
               "they pair one to one; a single list of segments serves all",
               fmt::format("write them together: patterns: [{}, ...]", short_form(lengths[0], rates[0])));
  std::vector<std::vector<Branch>> patterns;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i].size() != rates[i].size())
      place.fail(
          fmt::format("{} dilations for {} segments in pattern {}", rates[i].size(), lengths[i].size(),
                      i + 1),
          "each branch has a segment and a dilation; lists of lists are several patterns",
          fmt::format("patterns: [{}] if the branches are of one pattern, patterns: [{}/{}, ...] if not",
                      short_form(lengths[i], rates[i]), lengths[i][0], rates[i][0]));
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
