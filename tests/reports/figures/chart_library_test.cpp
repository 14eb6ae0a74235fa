#include "reports/figures/chart_library.hpp"

#include <gtest/gtest.h>

#include <string>

#include "kernels/base/text/error.hpp"
#include "tests/reports/rendered.hpp"

namespace hilbench {
namespace {

TEST(ChartLibrary, IsLeftOutIfAsked) {
  const ChartLibrary none = find_chart_library("none");
  EXPECT_TRUE(none.script.empty());
  EXPECT_TRUE(none.note.empty());
}

TEST(ChartLibrary, AFolderThatLacksAPartIsAUsageError) {
  Folder folder;
  std::ofstream(folder.path() / "vega-util.min.js") << "1";
  try {
    find_chart_library(folder.path());
    FAIL() << "it has no other part";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("it has no vega-time.min.js"), std::string::npos)
        << error.what();
  }
}

TEST(ChartLibrary, CannotEndItsElementOrAskForItsMap) {
  Folder folder;
  for (const char* part :
       {"util",   "time",   "format",     "loader",          "statistics", "expression", "event-selector",
        "canvas", "scale",  "scenegraph", "dataflow",        "selection",  "functions",  "runtime",
        "view",   "parser", "transforms", "view-transforms", "encode",     "interpreter"})
    std::ofstream(folder.path() / ("vega-" + std::string(part) + ".min.js"))
        << "exports." << part[0] << " = '</script><!--';\n//# sourceMappingURL=x.map\n";
  const std::string script = find_chart_library(folder.path()).script;
  EXPECT_NE(script.find("'<\\/script><\\!--'"), std::string::npos) << script;
  for (const char* gone : {"</script", "<!--", "sourceMappingURL"})
    EXPECT_EQ(script.find(gone), std::string::npos) << gone;
}

}  // namespace
}  // namespace hilbench
