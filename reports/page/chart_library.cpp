#include "reports/page/chart_library.hpp"

#include <unistd.h>

#include <array>
#include <string_view>

#include "kernels/base/error.hpp"
#include "kernels/base/files.hpp"

namespace hilbench {
namespace {

constexpr std::array<const char*, 3> kPlaces = {
    "/usr/share/javascript/chart.js/chart.min.js",   // Debian and Ubuntu: libjs-chart.js
    "/usr/share/nodejs/chart.js/dist/chart.min.js",  // node-chart.js
    "/usr/share/nodejs/chart.js/dist/chart.umd.js"};
constexpr std::string_view kInstall = "install Chart.js (Debian, Ubuntu: libjs-chart.js) and report again";

std::string content(const std::filesystem::path& file) {
  return read_text(file, "file of Chart.js", kMostInputBytes);
}

bool is_chart_js(const std::string& script) {
  const std::string_view head = std::string_view(script).substr(0, 400);
  return head.find("Chart.js v3.") != head.npos || head.find("Chart.js v4.") != head.npos;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// Text that would end or confuse a <script> element occurs only in strings, where a
// backslash changes nothing.
std::string as_element(std::string script) {
  replace_all(script, "</script", "<\\/script");
  replace_all(script, "<!--", "<\\!--");
  return script;
}

}  // namespace

ChartLibrary find_chart_library(const std::filesystem::path& file) {
  if (file == "none") return {};
  if (!file.empty()) {
    const std::string script = content(file);
    if (!is_chart_js(script))
      throw UsageError({"not Chart.js 3 or 4", file.string(), "its first lines name no such version",
                        "give its minified file, or `none`"});
    return {as_element(script), ""};
  }
  for (const char* place : kPlaces)
    if (::access(place, R_OK) == 0)
      if (const std::string script = content(place); is_chart_js(script)) return {as_element(script), ""};
  return {"", "no Chart.js: report.html has no charts; " + std::string(kInstall)};
}

}  // namespace hilbench
