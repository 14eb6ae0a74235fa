// A JSON value as a member, and JSON from outside the program: a file, a store, another program.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace hilbench {

// Most levels of lists and objects inside one another; records have 6. Copying, printing and destroying a
// value recurse once per level, so the depth is bounded.
inline constexpr int kDeepestJson = 100;

// True if brackets outside of strings nest deeper than kDeepestJson. The result means nothing for text that
// is not JSON.
bool is_too_deep(std::string_view text);

// A key that an object of the JSON `text` says more than once; parsers disagree on which value counts. Throws
// if the text is not JSON.
std::optional<std::string> key_given_twice(std::string_view text);

// Throws UsageError if the text is not JSON, is nested deeper than kDeepestJson, or says a key twice in one
// object. `what` begins the message: "the answer", "line 3".
nlohmann::json parse_json(std::string_view text, std::string_view what);

// A number as JSON that every reader takes exactly: as text if it is above 2^53, from where JavaScript and jq
// round.
nlohmann::json exact_json(std::uint64_t number);

// A JSON value, null at first, for headers that many files include: only those that look into it include
// nlohmann/json.hpp, which takes long to compile. Copies are deep; moved from, it is null.
class JsonValue {
 public:
  JsonValue();
  JsonValue(const JsonValue& other);
  JsonValue(JsonValue&& other) noexcept;
  ~JsonValue();
  JsonValue& operator=(const JsonValue& other);
  JsonValue& operator=(JsonValue&& other) noexcept;
  JsonValue& operator=(nlohmann::json value);

  nlohmann::json& operator*();
  const nlohmann::json& operator*() const;
  nlohmann::json* operator->() { return &**this; }
  const nlohmann::json* operator->() const { return &**this; }

 private:
  std::unique_ptr<nlohmann::json> value_;  // none: null
};

}  // namespace hilbench
