// Tests of the page as text; page_test.py tests it in a browser.
#include "reports/page/page.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "kernels/base/error.hpp"
#include "reports/page/page_data.hpp"
#include "reports/tables/commands.hpp"
#include "reports/tables/comparison.hpp"
#include "tests/reports/rendered.hpp"
#include "tests/reports/sample_records.hpp"

namespace hilbench {
namespace {

std::string page_of(const ReportInput& input) {
  const View view = view_of(input);
  return to_html(document_without_pictures(input), page_data(view, {}), {});
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
    if (name == "meta") continue;
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

TEST(Page, DataHoldsWhatTheRecordsSay) {
  const ReportInput input = sample::input();
  const View view = view_of(input);
  const nlohmann::json data = page_data(view, answer_claims(load_claims({}), view));
  ASSERT_EQ(data["records"].size(), input.records.size());
  std::size_t place = 0;
  for (const CaseView& of_case : view.cases)
    for (const Record* record : of_case.records) {
      const nlohmann::json& held = data["records"][place++];
      EXPECT_EQ(data["variants"][held["variant"].get<std::size_t>()]["id"], record->variant_id);
      EXPECT_EQ(data["cases"][held["case"].get<std::size_t>()]["id"], record->case_id);
      EXPECT_EQ(data["cases"][held["case"].get<std::size_t>()]["pages"], to_string(record->work.pages));
      EXPECT_EQ(held["kernel"], record->kernel);
      ASSERT_EQ(held.contains("time"), record->time.has_value());
      EXPECT_TRUE(!record->time || held["time"]["samples"].size() == record->time->samples_ns.size());
      EXPECT_EQ(data["environments"][held["environment"].get<std::size_t>()]["host"]["cpu"],
                record->environment["host"]["cpu"]);
      EXPECT_EQ(held["passing"]["time"], record->environment["time"]);
    }
  EXPECT_EQ(data["environments"].size(), 1u) << "what records share is held once";
  const nlohmann::json& tokens = data["records"][4];
  EXPECT_EQ(data["command"]["head"].get<std::string>() + "'^" + data["cases"][0]["word"].get<std::string>() +
                "/" + data["variants"][tokens["variant"].get<std::size_t>()]["word"].get<std::string>() +
                "$'" + data["command"]["tail"].get<std::string>(),
            commands_table(view.cases, view).rows[4][2].text);
}

TEST(Page, DataTellsWhatIsSteadyAndItsJoules) {
  ReportInput input = sample::input();
  EXPECT_FALSE(page_data(view_of(input), {})["records"][0].contains("steady_s"));
  for (Record& record : input.records) record.steady_s = 2;
  input.records[0].energy = Energy{.median_j = 12.5, .samples_j = std::vector<double>(12, 12.5)};
  input.records[1].energy = Energy{.reason = "no counter"};
  const nlohmann::json records = page_data(view_of(input), {})["records"];
  EXPECT_EQ(records[0]["steady_s"], 2);
  EXPECT_EQ(records[0]["joules"], 12.5);
  EXPECT_FALSE(records[1].contains("joules"));
  EXPECT_EQ(records[1]["no_joules"], "no counter");
}

TEST(Page, DataLeavesOutSamplesOfALargeRun) {
  ReportInput input = sample::input();
  input.records[0].time->samples_ns.assign(kMostSamplesOnPage, 5.0);
  input.records[0].time->samples_ns[7] = 9;
  const nlohmann::json data = page_data(view_of(input), {});
  EXPECT_EQ(data["held"]["samples"], false);
  EXPECT_FALSE(data["records"][0]["time"].contains("samples"));
  EXPECT_EQ(data["records"][0]["time"]["quartiles"], (nlohmann::json{5, 5, 5, 5, 9}));
}

TEST(Page, ScriptsCannotBeEndedByData) {
  const std::string safe = script_safe({{"a", "</script><!-- \xff"}});
  EXPECT_EQ(safe.find('<'), std::string::npos) << safe;
  EXPECT_EQ(nlohmann::json::parse(safe)["a"], "</script><!-- \xef\xbf\xbd");
}

TEST(Page, SaysWhereChartsAreMissing) {
  Folder folder;
  EXPECT_TRUE(find_chart_library("none").script.empty());
  std::ofstream(folder.path() / "other.js") << "alert(1)";
  EXPECT_THROW(find_chart_library(folder.path() / "other.js"), UsageError);
  std::ofstream(folder.path() / "chart.js") << "/*! Chart.js v4.4.0 */ '</script>'";
  EXPECT_EQ(find_chart_library(folder.path() / "chart.js").script, "/*! Chart.js v4.4.0 */ '<\\/script>'");
  const ReportInput input = sample::input();
  const std::string html = to_html(document_without_pictures(input), page_data(view_of(input), {}),
                                   {"", "no Chart.js: install it"});
  EXPECT_NE(html.find("This page has no charts: no Chart.js: install it"), std::string::npos);
}

}  // namespace
}  // namespace hilbench
