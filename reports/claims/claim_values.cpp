#include "reports/claims/claim_values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <sstream>
#include <vector>

#include "kernels/base/text/error.hpp"
#include "kernels/base/text/text.hpp"

namespace hilbench {
namespace {

constexpr std::size_t kLongestFile = std::size_t{1} << 20;

const YamlFileKind kClaims = {
    .name = "a claims",
    .deepest = 32,
    .empty = {.what = "not a claims file", .why = "it needs a list under the key 'claims'"},
    .not_yaml = {.what = "file cannot be read", .remedy = "it must be YAML"},
    .too_deep = {.what = "file nests too deeply",
                 .why = "more than 32 levels",
                 .remedy = "check that it is the file you mean"}};

bool holds(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// A number in the notation of YAML: 0x10 is 16.
template <class Number>
std::optional<Number> number_in(const YamlValue& value) {
  if (!value.is_scalar()) return std::nullopt;
  std::istringstream in(value.text());
  in.unsetf(std::ios::dec);
  Number number = 0;
  if (!(in >> std::noskipws >> number) || !(in >> std::ws).eof()) return std::nullopt;
  return number;
}

}  // namespace

YamlNode parse_claims_yaml(const std::string& text, const std::string& where) {
  if (text.size() > kLongestFile)
    throw UsageError({"file too long", where, "more than 1 MiB", "split it, or check the path"});
  return parse_yaml(text, where, kClaims);
}

void refuse_claim(const YamlValue& value, std::string what, std::string why, std::string remedy) {
  throw UsageError({std::move(what), value.place(), std::move(why), std::move(remedy)});
}

void check_keys(const YamlValue& map, std::span<const std::string_view> allowed) {
  if (!map.is_map()) refuse_claim(map, "not a map", "keys are expected here");
  const auto entries = map.entries();
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::string& key = entries[i].first;
    if (holds(allowed, key)) continue;
    const std::string near = nearest_name(key, allowed);
    refuse_claim(map.key(i), fmt::format("unknown key '{}'", one_line(key, 60)),
                 fmt::format("allowed: {}", fmt::join(allowed, ", ")),
                 near.empty() ? "" : fmt::format("did you mean '{}'?", near));
  }
}

std::string text_of(const YamlValue& map, std::string_view key) {
  const std::optional<YamlValue> value = map.find(key);
  if (!value || !value->is_scalar())
    refuse_claim(map, fmt::format("'{}' is missing or is not text", key), "");
  return one_line(value->text(), 1000);
}

std::string choice_of(const YamlValue& map, std::string_view key, std::span<const std::string_view> allowed) {
  const std::string text = text_of(map, key);
  if (!holds(allowed, text))
    refuse_claim(map, fmt::format("unknown {} '{}'", key, one_line(text, 60)),
                 fmt::format("allowed: {}", fmt::join(allowed, ", ")));
  return text;
}

std::int64_t integer_of(const YamlValue& value) {
  const std::optional<std::int64_t> number = number_in<std::int64_t>(value);
  if (!number || *number < 1 || *number > std::int64_t{1} << 40)
    refuse_claim(value, fmt::format("'{}' is not an integer from 1 to 2^40", plain_text(value)), "");
  return *number;
}

double positive_number(const YamlValue& map, std::string_view key) {
  const std::optional<YamlValue> value = map.find(key);
  return number_of(value.value_or(map), key);
}

double number_of(const YamlValue& value, std::string_view key) {
  const std::optional<double> number = value.is_scalar() ? number_in<double>(value) : std::nullopt;
  if (!number || !std::isfinite(*number) || *number <= 0)
    refuse_claim(value, fmt::format("'{}' is not a positive number", key), "");
  return *number;
}

bool boolean_of(const YamlValue& value, std::string_view name) {
  constexpr std::array<std::string_view, 4> kTrue = {"true", "yes", "on", "y"};
  constexpr std::array<std::string_view, 4> kFalse = {"false", "no", "off", "n"};
  std::string word = value.is_scalar() ? value.text() : "";
  for (char& c : word) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (!holds(kTrue, word) && !holds(kFalse, word))
    refuse_claim(value, fmt::format("'{}' is not true or false", name), "");
  return holds(kTrue, word);
}

std::int64_t choice_index(const YamlValue& value, std::string_view name,
                          std::span<const std::string_view> choices) {
  const std::string word = value.is_scalar() ? value.text() : "";
  const auto found = std::find(choices.begin(), choices.end(), word);
  if (found == choices.end())
    refuse_claim(value, fmt::format("'{}' cannot be '{}'", name, one_line(word, 60)),
                 fmt::format("allowed: {}", fmt::join(choices, ", ")));
  return found - choices.begin();
}

std::string plain_text(const YamlValue& value) {
  if (value.is_scalar()) return one_line(value.text(), 120);
  std::vector<std::string> parts;
  if (value.is_list())
    for (const YamlValue& part : value.items())
      parts.push_back(part.is_scalar() ? one_line(part.text(), 40) : "?");
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

}  // namespace hilbench
