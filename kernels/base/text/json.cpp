#include "kernels/base/text/json.hpp"

#include <fmt/format.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/text/error.hpp"
#include "kernels/base/text/text.hpp"

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

namespace {

// Refuses an object that says a key twice: parsers disagree on which value counts.
class KeysOnce {
 public:
  bool operator()(int, nlohmann::json::parse_event_t event, const nlohmann::json& parsed) {
    using Event = nlohmann::json::parse_event_t;
    if (event == Event::object_start) open_.emplace_back();
    if (event == Event::object_end) open_.pop_back();
    if (event == Event::key && !open_.back().insert(parsed.get<std::string>()).second)
      twice_ = parsed.get<std::string>();
    return true;
  }
  const std::optional<std::string>& twice() const { return twice_; }

 private:
  std::vector<std::set<std::string>> open_;  // keys of the objects that have begun, the innermost last
  std::optional<std::string> twice_;
};

}  // namespace

std::optional<std::string> key_given_twice(std::string_view text) {
  KeysOnce keys;
  nlohmann::json::parse(text, std::ref(keys));
  return keys.twice();
}

nlohmann::json exact_json(std::uint64_t number) {
  constexpr std::uint64_t kExact = std::uint64_t{1} << 53;
  return number <= kExact ? nlohmann::json(number) : nlohmann::json(std::to_string(number));
}

nlohmann::json parse_json(std::string_view text, std::string_view what) {
  if (is_too_deep(text))
    throw UsageError({.what = fmt::format("{} cannot be read", what),
                      .why = fmt::format("its JSON is nested deeper than {} levels", kDeepestJson)});
  try {
    KeysOnce keys;
    nlohmann::json parsed = nlohmann::json::parse(text, std::ref(keys));
    if (!keys.twice()) return parsed;
    throw UsageError(
        {.what = fmt::format("{} cannot be read", what),
         .why = fmt::format("its JSON has the key '{}' twice in one object", one_line(*keys.twice(), 80))});
  } catch (const nlohmann::json::exception& error) {
    std::string why = error.what();
    if (const std::size_t end = why.find("] "); why.starts_with('[') && end != why.npos)
      why.erase(0, end + 2);  // the name of the exception's class
    throw UsageError({.what = fmt::format("{} cannot be read", what), .why = one_line(why, 200)});
  }
}

JsonValue::JsonValue() = default;
JsonValue::JsonValue(JsonValue&&) noexcept = default;
JsonValue::~JsonValue() = default;
JsonValue& JsonValue::operator=(JsonValue&&) noexcept = default;

JsonValue::JsonValue(const JsonValue& other)
    : value_(other.value_ ? std::make_unique<nlohmann::json>(*other.value_) : nullptr) {}

JsonValue& JsonValue::operator=(const JsonValue& other) {
  return *this = JsonValue(other);
}

JsonValue& JsonValue::operator=(nlohmann::json value) {
  value_ = std::make_unique<nlohmann::json>(std::move(value));
  return *this;
}

nlohmann::json& JsonValue::operator*() {
  if (!value_) value_ = std::make_unique<nlohmann::json>();
  return *value_;
}

const nlohmann::json& JsonValue::operator*() const {
  static const nlohmann::json null;
  return value_ ? *value_ : null;
}

}  // namespace hilbench
