#include "reports/figures/draw.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "kernels/base/files/files.hpp"
#include "kernels/base/process/held_signals.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/base/text/text.hpp"
#include "reports/figures/figure_script.hpp"
#include "reports/pictures/drawing_program.hpp"

namespace hilbench {
namespace {

namespace fs = std::filesystem;

// What one call of draw() draws, and with what.
class Drawing {
 public:
  Drawing(const DrawTools& tools, const fs::path& folder) : tools_(tools), folder_(folder) {}

  Drawn draw(const nlohmann::json& data, const ChartLibrary& library, const std::string& only) {
    try {
      write_file(work_.path() / "draw.js", library.script + still_script());
      write_file(work_.path() / "data.json",
                 data.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    } catch (const Error& error) {
      drawn_.notes.push_back(fmt::format("figures left out: {}", error.what()));
      return std::move(drawn_);
    }
    std::vector<std::string> command = {tools_.node, path_of("draw.js"), path_of("data.json"), work_.path()};
    if (!only.empty()) command.push_back(only);
    const Drew outcome = run_drawing(command, work_.path() / "log", tools_.limit, signals_);
    if (!outcome.found)
      drawn_.notes.push_back(fmt::format(
          "no {}: figures left out; install it (Debian, Ubuntu: nodejs) and report again", tools_.node));
    else if (!outcome.fault.empty())
      drawn_.notes.push_back(fmt::format("figures left out: {}: {}", tools_.node, outcome.fault));
    else
      keep();
    return std::move(drawn_);
  }

 private:
  std::string path_of(const std::string& file) const { return work_.path() / file; }

  // Takes what Node.js wrote.
  void keep() {
    const nlohmann::json listed =
        nlohmann::json::parse(drawn_text(work_.path() / "figures.json"), nullptr, false);
    if (!listed.is_array()) {
      drawn_.notes.push_back(fmt::format("figures left out: {}: it wrote none", tools_.node));
      return;
    }
    for (const nlohmann::json& one : listed) {
      const auto name = one.value("name", "");
      if (one.contains("fault")) {
        drawn_.notes.push_back(
            fmt::format("figure {} left out: {}", name, one_line(one.value("fault", ""), 200)));
        continue;
      }
      write_file(folder_ / (name + ".svg"), drawn_text(work_.path() / (name + ".svg")));
      drawn_.figures.push_back({name, one.value("title", ""), one.value("caption", "")});
      if (pixels_) write_pixels(name);
    }
  }

  void write_pixels(const std::string& name) {
    const Drew outcome =
        run_drawing(png_command(tools_.rsvg_convert, path_of(name + ".svg"), path_of(name + ".png")),
                    work_.path() / "log", tools_.limit, signals_);
    if (outcome.fault.empty()) {
      write_file(folder_ / (name + ".png"), drawn_text(work_.path() / (name + ".png")));
      return;
    }
    pixels_ = outcome.found && !outcome.hung;
    drawn_.notes.push_back(
        outcome.found
            ? fmt::format("{}.png left out: {}: {}", name, tools_.rsvg_convert, outcome.fault)
            : fmt::format("no {}: figures have no .png; install it (Debian, Ubuntu: librsvg2-bin) and "
                          "report again",
                          tools_.rsvg_convert));
  }

  const DrawTools& tools_;
  const fs::path& folder_;
  HeldSignals signals_;  // outlives the folder
  TemporaryFolder work_;
  Drawn drawn_;
  bool pixels_ = true;
};

}  // namespace

Drawn draw(const nlohmann::json& data, const ChartLibrary& library, const fs::path& folder,
           const std::string& only, const DrawTools& tools) {
  if (library.script.empty()) return {};
  return Drawing(tools, folder).draw(data, library, only);
}

}  // namespace hilbench
