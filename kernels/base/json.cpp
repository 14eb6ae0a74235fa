#include "kernels/base/json.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "kernels/base/error.hpp"
#include "kernels/base/text.hpp"

namespace hilbench {
bool is_too_deep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\') {
      ++i;
    } else if (c == '"') {
      in_string = !in_string;
    } else if (!in_string && (c == '[' || c == '{')) {
      if (++depth > kDeepestJson) return true;
    } else if (!in_string && (c == ']' || c == '}')) {
      --depth;
    }
  }
  return false;
}

nlohmann::json parse_json(std::string_view text, std::string_view what) {
  if (is_too_deep(text))
    throw UsageError({.what = fmt::format("{} cannot be read", what),
                      .why = fmt::format("its JSON is nested deeper than {} levels", kDeepestJson)});
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    std::string why = error.what();
    if (const std::size_t end = why.find("] "); why.starts_with('[') && end != why.npos)
      why.erase(0, end + 2);  // the name of the exception's class
    throw UsageError({.what = fmt::format("{} cannot be read", what), .why = one_line(why, 200)});
  }
}

}  // namespace hilbench
