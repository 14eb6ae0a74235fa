#include "reports/view/environment_values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace hilbench {
namespace {

constexpr std::size_t kShownValues = 3;

// A value of an environment without the punctuation of JSON: "level 1, bytes 32768; level 2, bytes 1048576".
std::string value_text(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_null()) return "unknown";
  std::vector<std::string> parts;
  if (value.is_array())
    for (const nlohmann::json& part : value) parts.push_back(value_text(part));
  else if (value.is_object())
    for (const auto& [key, part] : value.items()) parts.push_back(key + " " + value_text(part));
  else
    return value.dump();
  return fmt::format("{}", fmt::join(parts, value.is_array() ? "; " : ", "));
}

// An environment as "host.cpu" -> text.
void flatten(const nlohmann::json& value, const std::string& path, std::map<std::string, std::string>& into) {
  if (value.is_object()) {
    for (const auto& [key, inside] : value.items())
      flatten(inside, path.empty() ? key : path + "." + key, into);
  } else {
    into[path] = value_text(value);
  }
}

}  // namespace

EnvironmentValues environment_values(const View& view) {
  EnvironmentValues values;
  const nlohmann::json* last = nullptr;
  for (const CaseView& of_case : view.cases)
    for (const Record* record : of_case.records) {
      if (last && *last == *record->environment) continue;
      last = &*record->environment;
      std::map<std::string, std::string> flat;
      flatten(*record->environment, "", flat);
      for (const auto& [key, value] : flat)
        if (auto& known = values[key]; std::find(known.begin(), known.end(), value) == known.end())
          known.push_back(value);
    }
  return values;
}

std::string values_text(const std::vector<std::string>& values) {
  const std::size_t shown = std::min(values.size(), kShownValues);
  std::string text = fmt::format("{}", fmt::join(values.begin(), values.begin() + shown, "; "));
  if (shown < values.size()) text += fmt::format("; and {} more", values.size() - shown);
  return text;
}

}  // namespace hilbench
