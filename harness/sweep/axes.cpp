// `axes`, `cases` and --axis: the cases of a sweep.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "harness/sweep/parts.hpp"
#include "kernels/base/text/error.hpp"

namespace hilbench {
namespace {

std::vector<std::string> case_names() {
  std::vector<std::string> names = {"sequence_length", "segments", "dilations", "patterns"};
  for (const Field<WindowDimension>& field : window_fields()) names.emplace_back(field.name);
  names.insert(names.end(), {"mask", "mask_block"});
  for (const Field<Case>& field : case_fields())
    if (field.name != "sequence_length") names.emplace_back(field.name);
  return names;
}

bool is_variant_option(const std::string& name) {
  const auto& names = variant_option_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

// `patterns` says what segments and dilations say, so one place has either.
void refuse_patterns_twice(const std::vector<NamedValue>& values) {
  const std::optional<YamlValue> patterns = value_named(values, "patterns");
  for (const char* other : {"segments", "dilations"})
    if (patterns && value_named(values, other))
      patterns->fail(fmt::format("patterns and {}", other), "patterns are segments with their dilations",
                     "leave one of the two out");
}

// Puts a value of the command line in the place of the file's. `patterns` replace segments and dilations; one
// of these replaces its part of `patterns`.
void replace(std::vector<NamedValue>& values, const NamedValue& by) {
  const auto same = [&](const NamedValue& value) {
    return value.name == by.name ||
           (by.name == "patterns" && (value.name == "segments" || value.name == "dilations"));
  };
  const auto first = std::find_if(values.begin(), values.end(), same);
  if (first == values.end()) return values.push_back(by);
  *first = by;
  values.erase(std::remove_if(first + 1, values.end(), same), values.end());
}

// Axes of the file and of the command line by name; those of the command line replace those of the file.
std::vector<NamedValue> axis_values(const std::optional<YamlValue>& axes,
                                    std::span<const AxisOverride> overrides) {
  std::vector<NamedValue> values;
  if (axes)
    for (auto& [name, value] : axes->entries(axis_names()))
      if (!is_variant_option(name)) values.push_back({name, value});
  refuse_patterns_twice(values);
  std::vector<NamedValue> from_command_line;
  for (const AxisOverride& each : overrides)
    if (!is_variant_option(each.name)) from_command_line.push_back({each.name, each.value()});
  refuse_patterns_twice(from_command_line);
  for (const NamedValue& each : from_command_line) replace(values, each);
  return values;
}

std::vector<std::int64_t> numbers_below(std::size_t count) {
  std::vector<std::int64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
  return numbers;
}

// The axes that `values` describe. The axis of the patterns has the place of the first list of them.
std::vector<Axis> make_axes(const std::vector<NamedValue>& values, Pairing pairing, MaskFiles& masks,
                            Patterns& patterns) {
  patterns = read_patterns(values, pairing, masks);
  std::vector<Axis> axes;
  bool has_pattern = false;
  for (const NamedValue& each : values) {
    if (const Field<Case>* field = find_field(case_fields(), each.name)) {
      axes.push_back({each.name, field_values(each.value, *field)});
    } else if (!std::exchange(has_pattern, true)) {
      if (patterns.windows.empty())
        axes.push_back({"segments", numbers_below(patterns.branches.size())});
      else
        axes.push_back({"grid", numbers_below(patterns.windows.size())});
    }
  }
  return axes;
}

std::int64_t product_size(const std::vector<Axis>& axes) {
  std::int64_t count = 1;
  for (const Axis& axis : axes)
    count = std::min(count, kMostCases + 1) * static_cast<std::int64_t>(axis.values.size());
  return count;
}

// A point of `cases`, and its place in the file.
struct Point {
  Case work;
  std::string where;
  bool names_length = false;
};

// The parameters that `inputs` gives to all cases. The axes of the command line replace them.
std::vector<NamedValue> values_of_inputs(const CaseSource& source,
                                         const std::vector<NamedValue>& from_command_line) {
  std::vector<NamedValue> values;
  if (!source.inputs || !source.inputs->is_map()) return values;
  for (const std::string& name : input_parameters()) {
    const std::optional<YamlValue> given = source.inputs->find(name);
    if (!given) continue;
    const auto refuse_both = [&](const YamlValue& part) {
      if (const std::optional<YamlValue> other = part.find(name))
        other->fail(fmt::format("'{}' stands under inputs too", name),
                    fmt::format("inputs give one value to all cases, at {}", given->place()),
                    "leave one of the two out");
    };
    if (source.axes) refuse_both(*source.axes);
    if (source.cases && source.cases->is_list())
      for (const YamlValue& item : source.cases->items()) refuse_both(item);
    if (!given->is_scalar())
      given->fail("expects one value", "lists multiply under axes", fmt::format("axes: {{{}: [...]}}", name));
    if (!value_named(from_command_line, name)) values.push_back({name, *given});
  }
  return values;
}

// The lists of the pattern of a point; those of the command line replace them.
std::vector<NamedValue> pattern_values(std::vector<NamedValue> of_point,
                                       const std::vector<NamedValue>& from_command_line) {
  for (const NamedValue& each : from_command_line)
    if (names_pattern(each.name)) replace(of_point, each);
  return of_point;
}

// The point that `value` describes; one for each pattern if the command line gives several.
std::vector<Point> parse_point(const YamlValue& value, std::span<const std::string> names, const Case& base,
                               const std::vector<NamedValue>& from_command_line, MaskFiles& masks) {
  Point point{base, {}};
  point.where = value.where();
  point.names_length = value_named(from_command_line, "sequence_length").has_value();
  std::vector<NamedValue> lists;
  for (const auto& [name, entry] : value.entries(names)) {
    if (name == "sequence_length") point.names_length = true;
    check_one_pattern(name, entry);
    if (const Field<Case>* field = find_field(case_fields(), name))
      field->set(point.work, field_value(entry, *field));
    else
      lists.push_back({name, entry});
  }
  refuse_patterns_twice(lists);
  const Patterns patterns = read_patterns(pattern_values(lists, from_command_line), Pairing::spread, masks);
  std::vector<Point> points;
  for (const std::vector<Branch>& pattern : patterns.branches) {
    points.push_back(point);
    points.back().work.pattern = pattern;
  }
  for (const WindowPattern& windows : patterns.windows) {
    points.push_back(point);
    points.back().work.windows = windows.dimensions;
    points.back().work.mask_blocks = windows.mask;
  }
  return points.empty() ? std::vector<Point>{point} : points;
}

// Every point combined with every combination of values of the scalar axes.
std::vector<Point> multiplied(std::vector<Point> points, const std::vector<Axis>& axes) {
  for (const Axis& axis : axes) {
    const Field<Case>* field = find_field(case_fields(), axis.name);
    std::vector<Point> more;
    for (const Point& point : points)
      for (const std::int64_t value : axis.values) {
        more.push_back(point);
        field->set(more.back().work, value);
      }
    points = std::move(more);
  }
  return points;
}

void check_count(std::int64_t product, std::int64_t points, const YamlValue& place) {
  if (product + points <= kMostCases) return;
  place.fail("more than a million cases", "axes multiply", "shorten an axis, or split the sweep");
}

// Every point of `cases`, changed by the axes of the command line. `base`: a case with the values of
// `inputs`. `product`: the number of cases from `axes`.
std::vector<Point> parse_points(const YamlValue& cases, const Case& base,
                                const std::vector<NamedValue>& from_command_line, std::int64_t product,
                                MaskFiles& masks) {
  const std::vector<std::string> names = case_names();
  const std::vector<YamlValue> items = cases.items();
  if (items.empty()) cases.fail("empty list", "no case in it");
  std::vector<Point> points;
  for (const YamlValue& item : items) {
    for (Point& point : parse_point(item, names, base, from_command_line, masks))
      points.push_back(std::move(point));
    check_count(product, static_cast<std::int64_t>(points.size()), cases);
  }
  std::vector<NamedValue> scalars;
  for (const NamedValue& value : from_command_line)
    if (!names_pattern(value.name)) scalars.push_back(value);
  Patterns no_patterns;
  const std::vector<Axis> axes = make_axes(scalars, Pairing::one_to_one, masks, no_patterns);
  const auto written = static_cast<std::int64_t>(points.size());
  if (product_size(axes) > kMostCases / written) check_count(kMostCases + 1, 0, cases);
  check_count(product, written * product_size(axes), cases);
  points = multiplied(std::move(points), axes);
  for (Point& point : points) {
    if (point.work.kv_heads == 0) point.work.kv_heads = point.work.heads;
    if (has_windows(point.work))
      fill_in_windows(point.work, point.names_length ? Length::given : Length::derived);
  }
  return points;
}

}  // namespace

const std::vector<std::string>& axis_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names = case_names();
    names.insert(names.end(), variant_option_names().begin(), variant_option_names().end());
    return names;
  }();
  return kNames;
}

const std::vector<std::string>& input_parameters() {
  static const std::vector<std::string> kNames = {"score_scale", "data"};
  return kNames;
}

std::vector<SweepCase> parse_cases(const CaseSource& source, std::span<const AxisOverride> overrides,
                                   const YamlValue& place, const Condition& skip_when) {
  const std::vector<NamedValue> all = axis_values(source.axes, overrides);
  const std::vector<NamedValue> from_command_line = axis_values(std::nullopt, overrides);
  const bool axes_name_cases = !axis_values(source.axes, {}).empty();
  const YamlValue& axes_place = source.axes ? *source.axes : place;
  const Pairing pairing = std::any_of(from_command_line.begin(), from_command_line.end(),
                                      [](const NamedValue& value) { return names_pattern(value.name); })
                              ? Pairing::spread
                              : Pairing::one_to_one;
  CaseSpace space;
  if (axes_name_cases || !source.cases) space.axes = make_axes(all, pairing, source.masks, space.patterns);
  if (space.axes.empty() && !source.cases)
    axes_place.fail("no case to measure", "neither axes nor cases name one",
                    "give axes: {sequence_length: 8192}");
  Case base;
  for (const auto& [name, value] : values_of_inputs(source, from_command_line)) {
    const Field<Case>& field = *find_field(case_fields(), name);
    field.set(base, field_value(value, field));
    if (!space.axes.empty()) space.axes.push_back({name, {field.get(base)}});
  }
  const std::int64_t product = space.axes.empty() ? 0 : product_size(space.axes);
  check_count(product, 0, axes_place);
  if (source.cases)
    for (Point& point : parse_points(*source.cases, base, from_command_line, product, source.masks)) {
      if (!skip_when.matches(point.work))
        if (const Refusal why = why_not(point.work))
          throw UsageError({"impossible case", point.where, *why, ""});
      space.points.push_back(std::move(point.work));
    }
  std::vector<SweepCase> cases = list_cases(space, skip_when);
  for (const SweepCase& each : cases) {  // points were checked above
    if (each.skipped) continue;
    if (const Refusal why = why_not(each.work))
      axes_place.fail("impossible case", *why, "leave such combinations out with skip_when");
  }
  return cases;
}

}  // namespace hilbench
