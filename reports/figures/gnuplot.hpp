// Static figures by gnuplot, run without a shell. Text from outside reaches gnuplot only as quoted
// strings and data.
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
  std::vector<std::string> notes;  // what could not be drawn, and why
};

// Draws every plot into `folder`/NAME.svg and .png. If gnuplot is missing or fails, a note says so. If one
// figure takes longer than `limit`, the figures after it are left out. Throws UsageError or EnvironmentError
// if `folder` cannot be written. `program` is looked up in PATH.
Drawn draw(const std::vector<Plot>& plots, const std::filesystem::path& folder,
           const std::string& program = "gnuplot",
           std::chrono::milliseconds limit = std::chrono::seconds(60));

// `text` as a gnuplot string constant. Control characters become spaces.
std::string gnuplot_quoted(std::string_view text);
// `text` as one tab-separated field of a data file.
std::string gnuplot_field(std::string_view text);

}  // namespace hilbench
