#include "reports/export/latex_text.hpp"

namespace hilbench {
namespace {

std::string character(char c) {
  switch (c) {
    case '\\':
      return "\\textbackslash{}";
    case '~':
      return "\\textasciitilde{}";
    case '^':
      return "\\textasciicircum{}";
    case '<':
      return "\\textless{}";
    case '>':
      return "\\textgreater{}";
    case '|':
      return "\\textbar{}";
    case '"':
      return "\\char34{}";  // babel gives the bare one a meaning in some languages
    case '{':
    case '}':
    case '$':
    case '&':
    case '#':
    case '_':
    case '%':
      return {'\\', c};
    case '[':  // behind \\ these two would be its options
    case '*':
    case '`':  // begins ligatures, as the next one does
    case '\'':
      return {'{', c, '}'};
    default:
      return static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? " " : std::string(1, c);
  }
}

}  // namespace

std::string latex_text(std::string_view text) {
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool joins = (c == '-' || c == ',') && safe.ends_with(c);  // two of them are a dash or a quote
    if (byte >= 0xc0)
      safe += '?';  // the first byte of a character
    else if (byte < 0x80)
      safe += joins ? std::string{'{', '}', c} : character(c);
  }
  return safe;
}

}  // namespace hilbench
