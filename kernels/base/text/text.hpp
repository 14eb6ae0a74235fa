// Making text from outside safe to show in a message or to pass to a shell or a regular expression.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hilbench {

// Length of the UTF-8 sequence at `text`; 0 if it is overlong, a surrogate, above U+10FFFF or cut off.
std::size_t utf8_length(std::string_view text);
// True if a terminal may obey the character, which is one UTF-8 sequence, instead of showing it: controls
// (ASCII and U+0080 to U+009F), separators of lines, and what turns the direction of text.
bool is_control(std::string_view character);

// `text` as one line: control characters become spaces, bytes that are not UTF-8 U+FFFD, and text beyond
// `limit` bytes is cut and ends in "...".
std::string one_line(std::string_view text, std::size_t limit = 400);
// The same of all of it, with its line breaks.
std::string printable(std::string_view text);

// The member of `names` with the smallest edit distance to `word`, or "" if none is near.
template <class Names>
std::string nearest_name(std::string_view word, const Names& names);
std::size_t edit_distance(std::string_view a, std::string_view b);

// A shell word that means `text` exactly. inside_quotes: the part between its single quotes.
std::string shell_quoted(std::string_view text);
std::string inside_quotes(std::string_view text);
// The words of a command as a shell cuts it: at blanks and line breaks, but for those in '...' and "..." and
// behind a backslash. Nothing is expanded. std::nullopt if a quote is not closed or a backslash comes last.
std::optional<std::vector<std::string>> shell_words(std::string_view command);
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
