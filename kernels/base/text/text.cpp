#include "kernels/base/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace hilbench {

std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto tail = [&](std::size_t i) { return (byte(i) & 0xc0u) == 0x80u; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return tail(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    if ((first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) > 0x9f)) return 0;
    return tail(1) && tail(2) ? 3 : 0;
  }
  if (first < 0xf0 || first > 0xf4) return 0;
  if ((first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) > 0x8f)) return 0;
  return tail(1) && tail(2) && tail(3) ? 4 : 0;
}

bool is_control(std::string_view character) {
  const auto byte = [&](std::size_t i) {
    return i < character.size() ? static_cast<unsigned char>(character[i]) : 0u;
  };
  if (character.size() == 1) return byte(0) < 0x20 || byte(0) == 0x7f;
  if (character.size() == 2) return (byte(0) == 0xc2 && byte(1) < 0xa0) || character == "\u061C";
  const bool general = character.size() == 3 && byte(0) == 0xe2;
  return general && ((byte(1) == 0x80 && byte(2) >= 0xa8 && byte(2) <= 0xae) ||  // U+2028 to U+202E
                     (byte(1) == 0x80 && (byte(2) & 0xfe) == 0x8e) ||            // U+200E and U+200F
                     (byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9));   // U+2066 to U+2069
}

namespace {

// The same with spaces for what a terminal may obey, but for the characters `kept`; U+FFFD for what is not
// UTF-8.
std::string without_controls(std::string_view text, std::string_view kept) {
  std::string safe;
  for (std::size_t i = 0, length = 0; i < text.size(); i += std::max<std::size_t>(length, 1)) {
    length = utf8_length(text.substr(i, 4));
    const std::string_view character = text.substr(i, length);
    const bool shown =
        length > 0 && (!is_control(character) || kept.find(character) != std::string_view::npos);
    safe += shown ? character : length == 0 ? "\uFFFD" : " ";
  }
  return safe;
}

}  // namespace

std::string one_line(std::string_view text, std::size_t limit) {
  std::size_t end = std::min(limit, text.size());
  // Not inside a character of several bytes.
  while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return without_controls(text.substr(0, end), "") + (text.size() > limit ? "..." : "");
}

std::string printable(std::string_view text) {
  return without_controls(text, "\n");
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

std::string inside_quotes(std::string_view text) {
  std::string inside;
  for (const char c : text) {
    if (c == '\'')
      inside += "'\\''";
    else
      inside += c;
  }
  return inside;
}

std::string shell_quoted(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=@%+,-";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos) return std::string(text);
  return fmt::format("'{}'", inside_quotes(text));
}

std::optional<std::vector<std::string>> shell_words(std::string_view command) {
  std::vector<std::string> words;
  bool inside = false;  // of a word, which may be empty: ''
  char quote = 0;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    if (quote == 0 && std::string_view(" \t\n").find(c) != std::string_view::npos) {
      inside = false;
      continue;
    }
    if (!std::exchange(inside, true)) words.emplace_back();
    if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == '\\' && quote != '\'') {
      if (++i == command.size()) return std::nullopt;
      // Within "..." it quotes these alone.
      const bool quotes =
          quote == 0 || std::string_view("$`\"\\\n").find(command[i]) != std::string_view::npos;
      if (!quotes) words.back() += c;
      if (command[i] != '\n') words.back() += command[i];
    } else {
      words.back() += c;
    }
  }
  if (quote != 0) return std::nullopt;
  return words;
}

std::string regex_escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (std::string_view(".[]{}()*+?^$|\\").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

}  // namespace hilbench
