// `axes`, `cases` and --axis: the cases of a sweep.
#include <fmt/format.h>

#include <algorithm>

#include "harness/error.hpp"
#include "harness/sweep_parts.hpp"

namespace hilbench {
namespace {

constexpr std::size_t kMostBranches = 64;
constexpr std::int64_t kLongestSegment = std::int64_t{1} << 40;

std::vector<std::string> case_names() {
  std::vector<std::string> names = {"sequence_length", "segments", "dilations"};
  for (const Field<Case>& field : case_fields())
    if (field.name != "sequence_length") names.emplace_back(field.name);
  return names;
}

bool is_variant_option(const std::string& name) {
  const auto& names = variant_option_names();
  return std::find(names.begin(), names.end(), name) != names.end();
}

YamlNode scalar_node(std::string_view text) {
  return {.kind = YamlNode::Kind::scalar, .text = std::string(text)};
}

// "8,16" as a list of scalars; "2048.4096,4096" with `patterns` as a list of lists.
YamlNode list_node(std::string_view text, char separator, bool patterns) {
  YamlNode list{.kind = YamlNode::Kind::list};
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    const std::string_view part = text.substr(0, end);
    list.items.push_back(patterns ? list_node(part, '.', false) : scalar_node(part));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return list;
}

std::vector<std::int64_t> branch_list(const YamlValue& value) {
  std::vector<std::int64_t> list;
  for (const YamlValue& item : value.scalar_or_items()) list.push_back(item.integer(1, kLongestSegment));
  if (list.size() > kMostBranches) value.fail("more than 64 branches");
  return list;
}

// Axes of the file and of the command line by name, the latter taking the place of the former.
struct NamedValue {
  std::string name;
  YamlValue value;
};
std::vector<NamedValue> axis_values(const std::optional<YamlValue>& axes,
                                    std::span<const AxisOverride> overrides) {
  std::vector<NamedValue> values;
  if (axes)
    for (auto& [name, value] : axes->entries(axis_names()))
      if (!is_variant_option(name)) values.push_back({name, value});
  for (const AxisOverride& each : overrides) {
    if (is_variant_option(each.name)) continue;
    const auto same = std::find_if(values.begin(), values.end(),
                                   [&](const NamedValue& value) { return value.name == each.name; });
    if (same != values.end())
      same->value = each.value();
    else
      values.push_back({each.name, each.value()});
  }
  return values;
}

std::optional<YamlValue> value_named(const std::vector<NamedValue>& values, std::string_view name) {
  for (const NamedValue& each : values)
    if (each.name == name) return each.value;
  return std::nullopt;
}

// The axes that `values` describe; patterns go to `patterns`, as an axis where the first of the two stands.
std::vector<Axis> make_axes(const std::vector<NamedValue>& values,
                            std::vector<std::vector<Branch>>& patterns) {
  std::vector<Axis> axes;
  for (const auto& [name, value] : values) {
    if (const Field<Case>* field = find_field(case_fields(), name)) {
      axes.push_back({name, field_values(value, *field)});
    } else if (patterns.empty()) {
      patterns = paired_patterns(value_named(values, "segments"), value_named(values, "dilations"), true);
      Axis axis{"segments", {}};
      for (std::size_t i = 0; i < patterns.size(); ++i) axis.values.push_back(static_cast<std::int64_t>(i));
      axes.push_back(axis);
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

// A point of `cases`, and where it stands.
struct Point {
  Case work;
  std::string where;
};

Point parse_point(const YamlValue& value, std::span<const std::string> names) {
  Point point{.work = {}, .where = value.where()};
  std::optional<YamlValue> segments, dilations;
  for (const auto& [name, entry] : value.entries(names)) {
    if (name == "segments")
      segments = entry;
    else if (name == "dilations")
      dilations = entry;
    else
      find_field(case_fields(), name)->set(point.work, field_value(entry, *find_field(case_fields(), name)));
  }
  if (segments || dilations) point.work.pattern = paired_patterns(segments, dilations, false).front();
  return point;
}

// Every point with every combination of the overriding axes.
std::vector<Point> overridden(const std::vector<Point>& points, const std::vector<Axis>& axes,
                              const std::vector<std::vector<Branch>>& patterns) {
  std::vector<Point> result = points;
  for (const Axis& axis : axes) {
    const Field<Case>* field = find_field(case_fields(), axis.name);
    std::vector<Point> multiplied;
    for (const Point& point : result)
      for (const std::int64_t value : axis.values) {
        multiplied.push_back(point);
        if (field != nullptr)
          field->set(multiplied.back().work, value);
        else
          multiplied.back().work.pattern = patterns[static_cast<std::size_t>(value)];
      }
    result = std::move(multiplied);
  }
  return result;
}

void check_count(std::int64_t product, std::int64_t points, const YamlValue& place) {
  if (product + points <= kMostCases) return;
  place.fail("more than a million cases", "axes multiply", "shorten an axis, or split the sweep");
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

std::vector<AxisOverride> parse_overrides(const SweepOverrides& overrides) {
  std::vector<AxisOverride> parsed;
  const std::vector<std::string>& names = axis_names();
  const auto add = [&](const std::string& text, const std::string& file) {
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const bool patterns = name == "segments" || name == "dilations";
    AxisOverride axis{name, file, {}};
    if (equals == std::string::npos) axis.value().fail("expects NAME=V,V");
    axis.node = list_node(std::string_view(text).substr(equals + 1), ',', patterns);
    const YamlValue value = axis.value();
    if (std::find(names.begin(), names.end(), name) == names.end())
      fail_unknown(value, "parameter", name, names);
    for (const AxisOverride& other : parsed)
      if (other.name == name) value.fail("given twice", "", "list the values with commas: " + name + "=V,V");
    parsed.push_back(std::move(axis));
  };
  for (const std::string& text : overrides.axes) add(text, "--axis");
  if (overrides.device != DeviceKind::automatic)
    add(fmt::format("device={}", to_string(overrides.device)), "--device");
  return parsed;
}

std::vector<std::vector<std::int64_t>> branch_lists(const YamlValue& value, bool several) {
  if (value.is_map())
    value.fail("expects a list of lengths, one a branch", "a map is only for single integers");
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
                                                 const std::optional<YamlValue>& dilations, bool several) {
  using Lists = std::vector<std::vector<std::int64_t>>;
  const Lists lengths =
      segments ? branch_lists(*segments, several) : Lists{{Case().pattern[0].segment_length}};
  Lists rates;
  if (dilations)
    rates = branch_lists(*dilations, several);
  else
    for (const auto& list : lengths) rates.emplace_back(list.size(), 1);
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

void parse_cases(const CaseSource& source, std::span<const AxisOverride> overrides, const YamlValue& place,
                 Sweep& sweep) {
  const std::vector<NamedValue> all = axis_values(source.axes, overrides);
  const std::vector<NamedValue> from_command_line = axis_values(std::nullopt, overrides);
  const bool axes_name_cases = !axis_values(source.axes, {}).empty();
  const YamlValue& axes_place = source.axes ? *source.axes : place;
  if (axes_name_cases || !source.cases) sweep.axes = make_axes(all, sweep.patterns);
  if (sweep.axes.empty() && !source.cases)
    axes_place.fail("no case to measure", "neither axes nor cases name one",
                    "give axes: {sequence_length: 8192}");
  const std::int64_t product = sweep.axes.empty() ? 0 : product_size(sweep.axes);
  check_count(product, 0, axes_place);

  std::vector<Point> points;
  if (source.cases) {
    const std::vector<std::string> names = case_names();
    const std::vector<YamlValue> items = source.cases->items();
    if (items.empty()) source.cases->fail("empty list", "no case in it");
    for (const YamlValue& item : items) points.push_back(parse_point(item, names));
    std::vector<std::vector<Branch>> patterns;
    const std::vector<Axis> axes = make_axes(from_command_line, patterns);
    const auto written = static_cast<std::int64_t>(points.size());
    if (product_size(axes) > kMostCases / written) check_count(kMostCases + 1, 0, *source.cases);
    check_count(product, written * product_size(axes), *source.cases);
    points = overridden(points, axes, patterns);
  }
  for (Point& point : points) {
    if (point.work.kv_heads == 0) point.work.kv_heads = point.work.heads;
    const std::string why = sweep.skip_when.matches(point.work) ? "" : impossible(point.work);
    if (!why.empty()) throw UsageError({"impossible case", point.where, why, ""});
    sweep.points.push_back(point.work);
  }
  if (sweep.axes.empty()) return;
  Sweep product_only = sweep;
  product_only.points.clear();
  for (const SweepCase& each : cases_of(product_only)) {
    const std::string why = each.skipped ? "" : impossible(each.work);
    if (!why.empty()) axes_place.fail("impossible case", why, "leave such combinations out with skip_when");
  }
}

}  // namespace hilbench
