// Static figures: Vega draws them in one process of Node.js, which no shell starts; rsvg-convert makes PNG of
// SVG.
#pragma once

#include <chrono>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "reports/figures/chart_library.hpp"

namespace hilbench {

struct Figure {
  std::string name;     // figures/NAME.svg and .png
  std::string title;    // what it shows
  std::string caption;  // how to read it, and which machine
};

struct Drawn {
  std::vector<Figure> figures;
  std::vector<std::string> notes;  // what could not be drawn, and why
};

// The programs that draw, looked up in PATH, and how long each may take.
struct DrawTools {
  std::string node = "node", rsvg_convert = "rsvg-convert";
  std::chrono::milliseconds limit = std::chrono::seconds(60);
};

// Draws the figures for which `data`, report_data() or side_by_side_data(), has values into `folder`/NAME.svg
// and .png: those that STILLS of still.js lists. Of large stores only some points and rows are drawn; the
// caption says so. `only`: draws just the first, and names it so. Without a script
// in `library`, nothing is drawn. A program that is missing, fails, or takes too long is told in a note.
// Throws UsageError or EnvironmentError if `folder` cannot be written.
Drawn draw(const nlohmann::json& data, const ChartLibrary& library, const std::filesystem::path& folder,
           const std::string& only = "", const DrawTools& tools = {});

}  // namespace hilbench
