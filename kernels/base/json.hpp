// JSON that came from outside: a file, a store, another program.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace hilbench {

// Lists and objects inside one another; records take 6. What copies, prints and destroys a value calls itself
// once a level.
inline constexpr int kDeepestJson = 100;

// Whether brackets outside of strings nest deeper than that. Text that is no JSON may be called either.
bool is_too_deep(std::string_view text);

// `what` begins the message: "the answer", "line 3". Throws UsageError where the text is no JSON, or nested
// deeper than kDeepestJson.
nlohmann::json parse_json(std::string_view text, std::string_view what);

}  // namespace hilbench
