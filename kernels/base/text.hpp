// Making text from outside safe to show in a message or to pass to a shell or a regular expression.
#pragma once

#include <string>
#include <string_view>

namespace hilbench {

// `text` as one line: control characters become spaces, and text beyond `limit` is cut and ends in "...".
std::string one_line(std::string_view text, std::size_t limit = 400);

// The member of `names` with the smallest edit distance to `word`, or "" if none is near.
template <class Names>
std::string nearest_name(std::string_view word, const Names& names);
std::size_t edit_distance(std::string_view a, std::string_view b);

// A shell word that means `text` exactly. inside_quotes: the part between its single quotes.
std::string shell_quoted(std::string_view text);
std::string inside_quotes(std::string_view text);
// A regular expression that matches `text` exactly.
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
