#include "reports/figures/chart_library.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <system_error>

#include "kernels/base/files/files.hpp"
#include "kernels/base/text/error.hpp"

namespace hilbench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolder = "/usr/share/javascript/vega";  // Debian and Ubuntu: libjs-vega
constexpr const char* kLicence = "/usr/share/doc/libjs-vega/copyright";

// The parts of Vega that figures need, each after those that it needs itself.
constexpr std::array<std::string_view, 20> kParts = {
    "util",   "time",   "format",     "loader",          "statistics", "expression", "event-selector",
    "canvas", "scale",  "scenegraph", "dataflow",        "selection",  "functions",  "runtime",
    "view",   "parser", "transforms", "view-transforms", "encode",     "interpreter"};

fs::path file_of(const fs::path& folder, std::string_view part) {
  return folder / fmt::format("vega-{}.min.js", part);
}

// The first file that `folder` lacks, and why if it only may not be looked at; empty if it has all.
struct Missing {
  fs::path file;
  int error = 0;
};
Missing missing_of(const fs::path& folder) {
  for (const std::string_view part : kParts) {
    std::error_code error;
    const fs::path file = file_of(folder, part);
    if (!fs::is_regular_file(file, error)) return {file, error.value()};
  }
  return {};
}

std::string content(const fs::path& file) {
  return read_text(file, "file of Vega", kMostInputBytes);
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// The licence as a comment: who passes a page on, passes Vega on.
std::string licence_comment() {
  std::error_code ignored;
  std::string text =
      fs::is_regular_file(kLicence, ignored) ? content(kLicence) : "Vega, BSD 3-Clause licence";
  replace_all(text, "*/", "* /");
  return "/*\n" + text + "\n*/\n";
}

// A part asks for others by require(), as modules of Node.js do.
std::string wrapped(const fs::path& folder, std::string_view part) {
  std::string text = content(file_of(folder, part));
  if (const std::size_t map = text.find("//# sourceMappingURL="); map != text.npos) text.resize(map);
  return fmt::format("((exports, module) => {{\n{}\n}})(parts[\"vega-{}\"] = {{}}, {{}});\n", text,
                     part == "selection" ? "selections" : part);
}

std::string joined(const fs::path& folder) {
  std::string script = licence_comment() +
                       "const vega = (() => {\n"
                       "const parts = {}, require = (name) => parts[name];\n";
  for (const std::string_view part : kParts) script += wrapped(folder, part);
  script +=
      "Object.assign(parts[\"vega-dataflow\"].transforms, parts[\"vega-transforms\"], "
      "parts[\"vega-view-transforms\"], parts[\"vega-encode\"]);\n"
      "return {View: parts[\"vega-view\"].View, parse: parts[\"vega-parser\"].parse, "
      "expressionInterpreter: parts[\"vega-interpreter\"].expressionInterpreter, "
      "textMetrics: parts[\"vega-scenegraph\"].textMetrics};\n})();\n";
  // Text that would end or confuse a <script> element occurs only in strings and comments, where a backslash
  // changes nothing.
  replace_all(script, "</script", "<\\/script");
  replace_all(script, "<!--", "<\\!--");
  return script;
}

}  // namespace

ChartLibrary find_chart_library(const fs::path& folder) {
  if (folder == "none") return {};
  if (!folder.empty()) {
    if (const auto [file, error] = missing_of(folder); !file.empty()) {
      if (is_of_the_machine(error))
        throw_file_error(error, {"file of Vega cannot be read", file.string(), "", ""});
      throw UsageError({"not a folder of Vega 5", folder.string(), "it has no " + file.filename().string(),
                        "give the folder of vega-util.min.js and its other parts, or `none`"});
    }
    return {joined(folder), ""};
  }
  if (!missing_of(kFolder).file.empty())
    return {"",
            "no Vega: no figures, and no charts in report.html; install it (Debian, Ubuntu: libjs-vega) "
            "and report again"};
  return {joined(kFolder), ""};
}

}  // namespace hilbench
