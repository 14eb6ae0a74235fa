#include "reports/figures/report_data.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "reports/tables/commands.hpp"
#include "tests/reports/rendered.hpp"
#include "tests/reports/sample_records.hpp"

namespace hilbench {
namespace {

TEST(ReportData, HoldsWhatTheRecordsSay) {
  const ReportInput input = sample::input();
  const View view = view_of(input);
  const nlohmann::json data = report_data(view, answer_claims(load_claims({}), view));
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
                (*record->environment)["host"]["cpu"]);
      EXPECT_EQ(held["passing"]["time"], (*record->environment)["time"]);
    }
  EXPECT_EQ(data["environments"].size(), 1u) << "what records share is held once";
  const nlohmann::json& tokens = data["records"][4];
  EXPECT_EQ(data["command"]["head"].get<std::string>() + "'^" + data["cases"][0]["word"].get<std::string>() +
                "/" + data["variants"][tokens["variant"].get<std::size_t>()]["word"].get<std::string>() +
                "$'" + data["command"]["tail"].get<std::string>(),
            commands_table(view.cases, view).rows[4][2].text);
}

TEST(ReportData, TellsWhatIsSteadyAndItsJoules) {
  ReportInput input = sample::input();
  EXPECT_FALSE(report_data(view_of(input), {})["records"][0].contains("steady_s"));
  for (Record& record : input.records) record.steady_s = 2;
  input.records[0].energy = Energy{.median_j = 12.5, .samples_j = std::vector<double>(12, 12.5)};
  input.records[1].energy = Energy{.reason = "no counter"};
  const nlohmann::json records = report_data(view_of(input), {})["records"];
  EXPECT_EQ(records[0]["steady_s"], 2);
  EXPECT_EQ(records[0]["joules"], 12.5);
  EXPECT_FALSE(records[1].contains("joules"));
  EXPECT_EQ(records[1]["no_joules"], "no counter");
}

TEST(ReportData, LeavesOutSamplesOfALargeRun) {
  ReportInput input = sample::input();
  input.records[0].time->samples_ns.assign(kMostSamplesOnPage, 5.0);
  input.records[0].time->samples_ns[7] = 9;
  const nlohmann::json data = report_data(view_of(input), {});
  EXPECT_EQ(data["held"]["samples"], false);
  EXPECT_FALSE(data["records"][0]["time"].contains("samples"));
  EXPECT_EQ(data["records"][0]["time"]["quartiles"], (nlohmann::json{5, 5, 5, 5, 9}));
}

TEST(ReportData, ScriptsCannotBeEndedByData) {
  const std::string safe = script_safe({{"a", "</script><!-- \xff"}});
  EXPECT_EQ(safe.find('<'), std::string::npos) << safe;
  EXPECT_EQ(nlohmann::json::parse(safe)["a"], "</script><!-- \xef\xbf\xbd");
}

}  // namespace
}  // namespace hilbench
