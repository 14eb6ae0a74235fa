// `grid`, `window` and the other lists with one entry for each dimension, and `mask`: the windows of a sweep.
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

// Every `mask` in blocks of every `mask_block`, each once.
std::vector<MaskBlocks> masks_of(const std::map<std::string, YamlValue>& given, MaskFiles& files) {
  const auto file = given.find("mask"), size = given.find("mask_block");
  if (file == given.end())
    size->second.fail("mask missing", "mask_block is how many positions a block of a mask has",
                      "mask: FILE.npy");
  std::vector<std::int64_t> sizes = {kMaskBlock};
  if (size != given.end()) sizes = size->second.integers(1, kLongestMaskBlock);
  std::vector<MaskBlocks> masks;
  for (const YamlValue& item : file->second.scalar_or_items()) {
    const std::shared_ptr<const BlockBits> bits = files.read(item);
    for (const std::int64_t each : sizes) {
      const MaskBlocks mask = mask_of_bits(bits, each);
      if (std::find(masks.begin(), masks.end(), mask) == masks.end()) masks.push_back(mask);
    }
  }
  return masks;
}

std::vector<WindowPattern> masked_patterns(const std::map<std::string, YamlValue>& given, MaskFiles& files) {
  for (const Field<WindowDimension>& field : window_fields().subspan(1))
    if (const auto value = given.find(std::string(field.name)); value != given.end())
      value->second.fail(fmt::format("mask and {}", field.name), "the mask says which keys a query sees",
                         "leave one of the two out");
  const std::vector<MaskBlocks> masks = masks_of(given, files);
  const auto grid = given.find("grid");
  if (grid == given.end()) {
    std::vector<WindowPattern> patterns;
    for (const MaskBlocks& mask : masks) patterns.push_back({{}, mask});
    return patterns;
  }
  const Field<WindowDimension>& extent = window_fields().front();
  std::vector<WindowPattern> patterns;
  for (const List& list : dimension_lists(grid->second, extent, true))
    for (const MaskBlocks& mask : masks)
      patterns.push_back(
          {changed(std::vector<WindowDimension>(list.size()), extent, list, grid->second), mask});
  return patterns;
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

std::vector<WindowPattern> window_patterns(const std::map<std::string, YamlValue>& given, MaskFiles& masks) {
  if (given.contains("mask") || given.contains("mask_block")) return masked_patterns(given, masks);
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
  std::vector<WindowPattern> windows;
  for (std::vector<WindowDimension>& pattern : patterns) windows.push_back({std::move(pattern), {}});
  return windows;
}

}  // namespace hilbench
