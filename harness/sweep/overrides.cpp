// --axis NAME=V,V and --device: values in the form in which `axes` gives them.
#include <fmt/format.h>

#include <algorithm>

#include "harness/sweep/parts.hpp"

namespace hilbench {
namespace {

YamlNode scalar_node(std::string_view text) {
  return {.kind = YamlNode::Kind::scalar, .text = std::string(text)};
}

// What separates the values inside one entry of an axis: "2048.4096,4096", "32x48x80"; 0 if an entry is one
// value.
char inner_separator(std::string_view name) {
  if (const Field<WindowDimension>* field = find_field(window_fields(), name)) return list_separator(*field);
  return name == "segments" || name == "dilations" ? '.' : '\0';
}

// "8,16" as a list of scalars; with an `inner` separator as a list of lists.
YamlNode list_node(std::string_view text, char separator, char inner) {
  YamlNode list{.kind = YamlNode::Kind::list};
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    const std::string_view part = text.substr(0, end);
    list.items.push_back(inner != '\0' ? list_node(part, inner, '\0') : scalar_node(part));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return list;
}

}  // namespace

std::vector<AxisOverride> parse_overrides(const SweepOverrides& overrides) {
  std::vector<AxisOverride> parsed;
  const std::vector<std::string>& names = axis_names();
  const auto add = [&](const std::string& text, const std::string& file) {
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    AxisOverride axis{name, file, {}};
    if (equals == std::string::npos) axis.value().fail("expects NAME=V,V");
    axis.node = list_node(std::string_view(text).substr(equals + 1), ',', inner_separator(name));
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

}  // namespace hilbench
