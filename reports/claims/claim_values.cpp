#include "reports/claims/yaml_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/base/error.hpp"
#include "kernels/base/text.hpp"

namespace hilbench {
namespace {

constexpr std::size_t kLongestFile = std::size_t{1} << 20;
constexpr int kDeepestNesting = 32;

bool holds(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Nesting that would exhaust the parser's stack: flow brackets, and `- - -` on one line.
int nesting_of(std::string_view text) {
  int depth = 0, deepest = 0, dashes = 0;
  bool line_start = true;
  for (const char c : text) {
    if (c == '\n') line_start = true, dashes = 0;
    if (c == '[' || c == '{') deepest = std::max(deepest, ++depth);
    if ((c == ']' || c == '}') && depth > 0) --depth;
    if (line_start && (c == '-' || c == '?')) deepest = std::max(deepest, ++dashes);
    if (c != ' ' && c != '-' && c != '?' && c != '\n') line_start = false;
  }
  return deepest;
}

}  // namespace

YAML::Node YamlReader::parse(const std::string& text) const {
  if (text.size() > kLongestFile)
    throw UsageError({"file too long", where_, "more than 1 MiB", "split it, or check the path"});
  if (nesting_of(text) > kDeepestNesting)
    throw UsageError({"file nests too deeply", where_, fmt::format("more than {} levels", kDeepestNesting),
                      "check that it is the file you mean"});
  try {
    return YAML::Load(text);
  } catch (const YAML::Exception& error) {
    fail(error.mark, "file cannot be read", error.msg, "it must be YAML");
  }
}

void YamlReader::fail(const YAML::Mark& mark, std::string what, std::string why, std::string remedy) const {
  const std::string place = mark.is_null() ? where_ : fmt::format("{}:{}", where_, mark.line + 1);
  throw UsageError({std::move(what), place, std::move(why), std::move(remedy)});
}

std::int64_t YamlReader::field_value(const Field<Case>& field, const YAML::Node& node) const {
  if (field.kind == FieldKind::integer) return integer(node);
  if (field.kind == FieldKind::boolean) {
    bool value = false;
    if (!YAML::convert<bool>::decode(node, value))
      fail(node.Mark(), fmt::format("'{}' is not true or false", field.name), "");
    return value ? 1 : 0;
  }
  const std::string name = node.IsScalar() ? node.Scalar() : "";
  const auto found = std::find(field.choices.begin(), field.choices.end(), name);
  if (found == field.choices.end())
    fail(node.Mark(), fmt::format("'{}' cannot be '{}'", field.name, one_line(name, 60)),
         fmt::format("allowed: {}", fmt::join(field.choices, ", ")));
  return found - field.choices.begin();
}

void YamlReader::check_keys(const YAML::Node& map, std::span<const std::string_view> allowed) const {
  if (!map.IsMap()) fail(map.Mark(), "not a map", "keys are expected here");
  for (const auto& entry : map) {
    const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "";
    if (holds(allowed, key)) continue;
    const std::string near = nearest_name(key, allowed);
    fail(entry.first.Mark(), fmt::format("unknown key '{}'", one_line(key, 60)),
         fmt::format("allowed: {}", fmt::join(allowed, ", ")),
         near.empty() ? "" : fmt::format("did you mean '{}'?", near));
  }
}

std::string YamlReader::text_of(const YAML::Node& map, const char* key) const {
  if (!map[key] || !map[key].IsScalar()) fail(map.Mark(), fmt::format("'{}' is missing or no text", key), "");
  return one_line(map[key].Scalar(), 1000);
}

std::int64_t YamlReader::integer(const YAML::Node& node) const {
  std::int64_t value = 0;
  if (!node.IsScalar() || !YAML::convert<std::int64_t>::decode(node, value) || value < 1 ||
      value > std::int64_t{1} << 40)
    fail(node.Mark(), fmt::format("'{}' is not an integer from 1 to 2^40", plain_text(node)), "");
  return value;
}

double YamlReader::positive(const YAML::Node& node, const char* key) const {
  double value = 0;
  if (!node.IsScalar() || !YAML::convert<double>::decode(node, value) || !std::isfinite(value) || value <= 0)
    fail(node.Mark(), fmt::format("'{}' is not a positive number", key), "");
  return value;
}

std::string YamlReader::choice_of(const YAML::Node& map, const char* key,
                                  std::span<const std::string_view> allowed) const {
  const std::string text = text_of(map, key);
  if (!holds(allowed, text))
    fail(map.Mark(), fmt::format("unknown {} '{}'", key, one_line(text, 60)),
         fmt::format("allowed: {}", fmt::join(allowed, ", ")));
  return text;
}

std::string plain_text(const YAML::Node& node) {
  if (node.IsScalar()) return one_line(node.Scalar(), 120);
  std::vector<std::string> parts;
  if (node.IsSequence())
    for (const YAML::Node& part : node) parts.push_back(part.IsScalar() ? one_line(part.Scalar(), 40) : "?");
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

}  // namespace hilbench
