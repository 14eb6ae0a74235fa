// `grid`, `window` and the other lists with one entry for each dimension: the windows of a sweep.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/sweep/parts.hpp"

namespace hilbench {
namespace {

using List = std::vector<std::int64_t>;  // one value for each dimension, as Field::set takes it

// "[18, 24, 24]", "[true, false]"
std::string form_of(const Field<WindowDimension>& field, std::size_t dimensions) {
  const std::string_view each = field.kind == FieldKind::boolean ? "false"
                                : field.name == "grid"           ? "64"
                                                                 : "8";
  return fmt::format("{}: [{}]", field.name, fmt::join(std::vector(dimensions, each), ", "));
}

List dimension_list(const YamlValue& value, const Field<WindowDimension>& field) {
  List list;
  for (const YamlValue& item : value.items()) list.push_back(field_value(item, field));
  if (list.size() < 2 || list.size() > kMostDimensions)
    value.fail(fmt::format("{} with {} entries", field.name, list.size()),
               "grids have two or three dimensions, and lists one entry for each", form_of(field, 2));
  return list;
}

// `pattern` with the values of one list.
std::vector<WindowDimension> changed(std::vector<WindowDimension> pattern,
                                     const Field<WindowDimension>& field, const List& list,
                                     const YamlValue& place) {
  if (pattern.size() != list.size())
    place.fail(
        fmt::format("{} has {} entries for a grid of {} dimensions", field.name, list.size(), pattern.size()),
        "one entry for each dimension; lists multiply", form_of(field, pattern.size()));
  for (std::size_t d = 0; d < list.size(); ++d) field.set(pattern[d], list[d]);
  return pattern;
}

}  // namespace

std::vector<std::vector<std::int64_t>> dimension_lists(const YamlValue& value,
                                                       const Field<WindowDimension>& field, bool several) {
  if (!value.is_list())
    value.fail(fmt::format("{} expects a list", field.name), "one entry for each dimension of the grid",
               form_of(field, 2));
  const std::vector<YamlValue> items = value.items();
  if (items.empty() || !items.front().is_list()) return {dimension_list(value, field)};
  if (!several)
    value.fail(fmt::format("{} expects one list", field.name), "found a list of lists",
               "one entry of `cases` for each");
  std::vector<List> lists;
  for (const YamlValue& item : items) {
    if (!item.is_list()) item.fail("expects a list", "the other entries are lists", form_of(field, 2));
    lists.push_back(dimension_list(item, field));
  }
  return lists;
}

std::vector<std::vector<WindowDimension>> window_patterns(const std::map<std::string, YamlValue>& given) {
  const YamlValue& any = given.begin()->second;
  for (const Field<WindowDimension>& field : window_fields().first(2))
    if (!given.contains(std::string(field.name)))
      any.fail(fmt::format("{} missing", field.name), "windows are `window` keys a dimension on a `grid`",
               form_of(field, 2));
  std::vector<std::vector<WindowDimension>> patterns;
  for (const Field<WindowDimension>& field : window_fields()) {
    const auto value = given.find(std::string(field.name));
    if (value == given.end()) continue;
    std::vector<std::vector<WindowDimension>> multiplied;
    for (const List& list : dimension_lists(value->second, field, true)) {
      const std::vector<std::vector<WindowDimension>> grid = {std::vector<WindowDimension>(list.size())};
      for (const auto& pattern : patterns.empty() ? grid : patterns)
        multiplied.push_back(changed(pattern, field, list, value->second));
      if (std::ssize(multiplied) > kMostCases)
        value->second.fail("more than a million windows", "lists multiply", "shorten one");
    }
    patterns = std::move(multiplied);
  }
  return patterns;
}

}  // namespace hilbench
