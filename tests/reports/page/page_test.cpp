// Tests of the page as text; page_test.py tests it in a browser.
#include "reports/page/page.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "reports/figures/report_data.hpp"
#include "tests/reports/rendered.hpp"
#include "tests/reports/sample_records.hpp"

namespace hilbench {
namespace {

std::string page_of(const ReportInput& input) {
  const View view = view_of(input);
  return to_html(document_without_pictures(input), report_data(view, {}), {});
}

TEST(Page, IsSelfContainedAndSafe) {
  Folder folder;
  ReportInput input = sample::input();
  input.chart_library = "none";
  const ReportOutput output = write_report(input, folder.path());
  const std::string html = read(folder.path() / "report.html");
  for (const char* outside : {"http:", "https:", "src=", "@import", "url(http", "<link",
                              "javascript:", "innerHTML", "insertAdjacentHTML", "document.write", "eval("})
    EXPECT_EQ(html.find(outside), std::string::npos) << outside;
  EXPECT_NE(html.find("default-src 'none'"), std::string::npos) << "the page forbids the network";
  EXPECT_NE(html.find("&lt;script&gt;alert(1)&lt;/script&gt;"), std::string::npos);
  EXPECT_EQ(html.find("<script>alert"), std::string::npos);
  EXPECT_NE(html.find("\\u003cscript>alert(1)\\u003c/script>"), std::string::npos) << "in the data";
  EXPECT_NE(html.find("Example 9654 96-Core Processor, 2 threads"), std::string::npos);
  const std::string markup = markup_of(html);
  std::set<std::string> ids;
  const std::regex id(R"( id=["']([^"']+)["'])");
  for (auto match = std::sregex_iterator(markup.begin(), markup.end(), id); match != std::sregex_iterator();
       ++match)
    EXPECT_TRUE(ids.insert((*match)[1]).second) << "id twice: " << (*match)[1];
}

TEST(Page, BackticksInSentencesBecomeCode) {
  Document document;
  document.sections = {{.id = "one",
                        .title = "One",
                        .blocks = {Paragraph{"use `--claims <F>` twice"}, Paragraph{"an odd `tick"}}}};
  const std::string html = to_html(document);
  EXPECT_NE(html.find("<p>use <code>--claims &lt;F&gt;</code> twice</p>"), std::string::npos) << html;
  EXPECT_NE(html.find("<p>an odd `tick</p>"), std::string::npos) << html;
}

TEST(Page, TagsNest) {
  const std::string html = markup_of(page_of(sample::input()));
  std::vector<std::string> open;
  const std::regex tag(R"(<(/?)([a-z0-9]+)[^>]*>)");
  for (auto match = std::sregex_iterator(html.begin(), html.end(), tag); match != std::sregex_iterator();
       ++match) {
    const std::string name = (*match)[2];
    const bool closes_itself = match->str().ends_with("/>");  // as parts of pictures do
    if (name == "meta" || name == "wbr" || closes_itself) continue;
    if ((*match)[1].length() == 0) {
      open.push_back(name);
    } else {
      ASSERT_FALSE(open.empty());
      ASSERT_EQ(open.back(), name);
      open.pop_back();
    }
  }
  EXPECT_TRUE(open.empty());
}

TEST(Page, SaysWhereChartsAreMissing) {
  const ReportInput input = sample::input();
  const std::string html =
      to_html(document_without_pictures(input), report_data(view_of(input), {}), {"", "no Vega: install it"});
  EXPECT_NE(html.find("This page has no charts: no Vega: install it"), std::string::npos);
}

}  // namespace
}  // namespace hilbench
