// `hilbench list`: what this build knows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hilbench {

// What a list shows: what this machine may have, or also what only others have.
enum class Shown { here, all };

// One line for each name, with the reason if it is unavailable on this machine. Throws UsageError for an
// unknown topic, and if `all` shows nothing more.
std::string list_text(std::string_view what, Shown shown = Shown::here);

// A line of two columns.
struct Line {
  std::string name;
  std::string text;
};
std::string in_columns(const std::vector<Line>& lines);

}  // namespace hilbench
