#include "reports/terminal/screen.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

namespace hilbench {
namespace {

// SGR parameters of each Tone.
constexpr std::array<std::string_view, 5> kTones = {"", "32", "31", "36", "2"};

// COLUMNS of the environment; 0 if it is no width.
std::size_t columns_of_environment() {
  const char* columns = std::getenv("COLUMNS");
  if (columns == nullptr) return 0;
  const std::string_view text = columns;
  std::size_t width = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), width);
  constexpr std::size_t kWidest = 10'000;
  return error == std::errc() && stop == text.data() + text.size() && width <= kWidest ? width : 0;
}

bool is_set(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

std::string with_code(std::string_view text, std::string_view code, const Screen& screen) {
  if (screen.colours == Colours::off || code.empty() || text.empty()) return std::string(text);
  return fmt::format("\033[{}m{}\033[0m", code, text);
}

}  // namespace

Screen screen_of(std::FILE* stream) {
  Screen screen{.width = columns_of_environment()};
  if (::isatty(::fileno(stream)) == 0) return screen;
  winsize size = {};
  if (screen.width == 0 && ::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0) screen.width = size.ws_col;
  if (screen.width == 0) screen.width = kWidthOtherwise;
  const char* terminal = std::getenv("TERM");
  const bool dumb = terminal != nullptr && std::string_view(terminal) == "dumb";
  if (!is_set("NO_COLOR") && !dumb) screen.colours = Colours::on;
  return screen;
}

std::string toned(std::string_view text, Tone tone, const Screen& screen) {
  return with_code(text, kTones[static_cast<std::size_t>(tone)], screen);
}

std::string bold(std::string_view text, const Screen& screen) {
  return with_code(text, "1", screen);
}

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;  // not a continuation byte of UTF-8
  }));
}

std::string padded(const std::string& text, std::size_t to, Align align) {
  const std::string space(to - std::min(to, display_width(text)), ' ');
  return align == Align::right ? space + text : text + space;
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent, std::size_t begin) {
  if (width == 0) return std::string(text);
  std::string lines;
  std::size_t used = begin;
  for (bool at_start = true; !text.empty(); at_start = false) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t taken = display_width(word);
    if (!at_start && used + 1 + taken > width) {
      lines += '\n' + std::string(indent, ' ');
      used = indent;
    } else if (!at_start) {
      lines += ' ';
      ++used;
    }
    lines += word;
    used += taken;
  }
  return lines;
}

}  // namespace hilbench
