// Text from outside in messages, and text that a shell or a regular expression reads back.
#pragma once

#include <string>
#include <string_view>

namespace hilbench {

// Text from outside on one line: control characters become spaces, long text is cut with an ellipsis.
std::string one_line(std::string_view text, std::size_t limit = 400);

// The member of `names` with the smallest edit distance to `word`, or "" when none is near.
template <class Names>
std::string nearest_name(std::string_view word, const Names& names);
std::size_t edit_distance(std::string_view a, std::string_view b);

// A shell word that means `text` exactly; what stands between its single quotes; `regex` with its
// metacharacters escaped.
std::string shell_quoted(std::string_view text);
std::string inside_quotes(std::string_view text);
std::string regex_escaped(std::string_view text);

template <class Names>
std::string nearest_name(std::string_view word, const Names& names) {
  std::string best;
  std::size_t best_distance = 1 + word.size() / 3 + 1;
  for (const auto& name : names) {
    const std::size_t distance = edit_distance(word, std::string_view(name));
    if (distance < best_distance) {
      best_distance = distance;
      best = std::string(std::string_view(name));
    }
  }
  return best;
}

}  // namespace hilbench
