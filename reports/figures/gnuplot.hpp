// Static figures by gnuplot, run without a shell. Text from outside reaches it only as quoted strings and
// data.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hilbench {

// A figure before it is drawn.
struct Plot {
  std::string name;                         // figures/NAME.svg and .png
  std::string title;                        // what it shows
  std::string caption;                      // how to read it, and which machine
  std::string script;                       // gnuplot commands, from `set` to `plot`; no terminal, no output
  std::map<std::string, std::string> data;  // file name -> tab-separated values
  int width = 860, height = 480;            // pixels
};

struct Figure {
  std::string name;
  std::string title;
  std::string caption;
  std::string svg;  // file content
};

struct Drawn {
  std::vector<Figure> figures;
  std::vector<std::string> notes;  // what could not be drawn and why
};

// Draws every plot into `folder`/NAME.svg and .png. Where gnuplot is missing or fails, a note says so and
// nothing is thrown; where one figure takes longer than `limit`, the further ones are left out. Throws
// UsageError or EnvironmentError where `folder` cannot be written. `program` is looked up in PATH.
Drawn draw(const std::vector<Plot>& plots, const std::filesystem::path& folder,
           const std::string& program = "gnuplot",
           std::chrono::milliseconds limit = std::chrono::seconds(60));

// A gnuplot string constant that means `text`, whatever is in it. Control characters become spaces.
std::string gnuplot_quoted(std::string_view text);
// `text` as one tab-separated field of a data file.
std::string gnuplot_field(std::string_view text);

}  // namespace hilbench
