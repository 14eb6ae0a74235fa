// What a stream can show: its width, and colours.
#pragma once

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

#include "reports/view/table.hpp"

namespace hilbench {

enum class Colours { off, on };

struct Screen {
  std::size_t width = 0;  // characters of a line; 0: no limit
  Colours colours = Colours::off;
};

inline constexpr std::size_t kWidthOtherwise = 80;  // of a terminal that does not tell its width

// Of a terminal: the width is COLUMNS or what the terminal tells, and there are colours unless NO_COLOR is
// set or TERM is dumb. Of a file or a pipe: no colours, and no limit but COLUMNS.
Screen screen_of(std::FILE* stream);

// `text` in the colour of the tone, if the screen has colours.
std::string toned(std::string_view text, Tone tone, const Screen& screen);
std::string bold(std::string_view text, const Screen& screen);

// Characters that `text` takes, not bytes.
std::size_t display_width(std::string_view text);

// `text` with spaces, so that it takes `to` characters, or all that it needs.
std::string padded(const std::string& text, std::size_t to, Align align);

// `text` broken between words so that no line passes `width`, if the first begins at column `begin` and all
// others after `indent` spaces. A longer word stays whole. Width 0: one line.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent, std::size_t begin = 0);

}  // namespace hilbench
