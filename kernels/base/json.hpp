// JSON from outside the program: a file, a store, another program.
#pragma once

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

}  // namespace hilbench
