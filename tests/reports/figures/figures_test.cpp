// What the figures choose, asked of their scripts by Node.js: looks, axes and rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "reports/figures/figure_script.hpp"
#include "reports/figures/report_data.hpp"
#include "tests/reports/rendered.hpp"
#include "tests/reports/sample_records.hpp"
#include "tests/reports/windows_records.hpp"

namespace hilbench {
namespace {

using nlohmann::json;

// The value of `expression` where the figures of `data` are known; null, and a failure, if it throws.
json asked(const json& data, const std::string& expression) {
  Folder folder;
  const fs::path script = folder.path() / "asked.js", answer = folder.path() / "answer.json";
  std::ofstream(script) << "const DATA = " << data
                        << ";\nconst paint = (name) => (name === '--paper' ? '#ffffff' : "
                        << "`#0000${name.replace(/\\D/g, '').padStart(2, '0')}`);\n"
                        << text_script() << figure_script() << "require('fs').writeFileSync('"
                        << answer.string() << "', JSON.stringify(" << expression << "));\n";
  EXPECT_EQ(std::system(("node " + script.string()).c_str()), 0) << expression;
  return json::parse(read(answer), nullptr, false);
}

json data_with_variants(const std::vector<std::string>& ids) {
  ReportInput input = sample::input();
  json data = report_data(view_of(input), {});
  json variants = json::array();
  for (const std::string& id : ids) variants.push_back({{"id", id}, {"word", id}});
  while (variants.size() < data["variants"].size()) variants.push_back(data["variants"][variants.size()]);
  data["variants"] = variants;
  return data;
}

std::vector<std::string> many_ids() {
  std::vector<std::string> ids = {"cudnn",          "torch_sdpa.fa3", "torch_sdpa.cudnn",
                                  "torch_windows",  "jax_ring",       "gemm",
                                  "cublas",         "a_library",      "b_library",
                                  "dilated/linear", "dilated/random", "dilated/hilbert@tokens",
                                  "origin.whole"};
  for (const char* kernel : {"dilated", "dilated_wgmma", "boxes_wgmma"})
    for (const char* order :
         {"hilbert", "hilbert.qkv", "boxes.8.16.qkv", "boxes.2.8.8.qkv", "morton", "an_order"})
      ids.push_back(std::string(kernel) + "/" + order);
  return ids;
}

constexpr const char* kLooks =
    "[...looksOf(DATA.variants.map(({id}) => ({name: id})))].map(([name, {colour, shape}]) => [name, colour, "
    "shape])";

TEST(Figures, NoTwoSeriesShareColourAndShape) {
  if (!can_draw()) GTEST_SKIP() << "figures cannot be drawn here";
  const json data = data_with_variants(many_ids());
  std::set<json> seen, bars;
  for (const json& look : asked(data, kLooks))
    EXPECT_TRUE(seen.insert(json::array({look[1], look[2]})).second) << look;
  EXPECT_EQ(seen.size(), data["variants"].size());
  const json colours =
      asked(data, "[...looksOf(DATA.variants.slice(0, 12).map(({id}) => ({name: id})), true).values()]");
  for (const json& look : colours)
    EXPECT_TRUE(bars.insert(look["colour"]).second) << "bars show no shape: " << look;
  EXPECT_EQ(bars.size(), 12u);
}

TEST(Figures, AVariantHasTheSameColourOnEveryPage) {
  if (!can_draw()) GTEST_SKIP() << "figures cannot be drawn here";
  std::vector<std::string> ids = many_ids();
  const json forwards = asked(data_with_variants(ids), kLooks);
  std::reverse(ids.begin(), ids.end());
  const json backwards = asked(data_with_variants(ids), kLooks);
  for (const json& look : forwards)
    for (const json& other : backwards) EXPECT_TRUE(look[0] != other[0] || look[1] == other[1]) << look[0];
}

TEST(Figures, RowsAreInNumericOrderAndTheRestIsFolded) {
  if (!can_draw()) GTEST_SKIP() << "figures cannot be drawn here";
  json data = data_with_variants({});
  data["rivals"] = json::array();
  for (const int length : {131072, 4096, 16384, 8192})
    for (int branch = 12; branch > 0; --branch)
      data["rivals"].push_back(
          {{"kernel", "dilated"},
           {"work", "n " + std::to_string(length) + ", 512/" + std::to_string(branch) + ", h 8"},
           {"rival", "gemm"},
           {"ratio", {1.5, 1.4, 1.6}}});
  const json rows = asked(data, "kernelsAgainstRivals().rows");
  ASSERT_EQ(rows.size(), 48u);
  EXPECT_EQ(rows[0], "dilated: n 4096, 512/1");
  EXPECT_EQ(rows[11], "dilated: n 4096, 512/12");
  EXPECT_EQ(rows[12], "dilated: n 8192, 512/1");
  EXPECT_EQ(rows[47], "dilated: n 131072, 512/12");
  const json folded = asked(data, "foldedRows(kernelsAgainstRivals())");
  EXPECT_EQ(folded["rows"].size(), 20u);
  EXPECT_EQ(folded["series"][0]["points"].size(), 20u);
  EXPECT_NE(folded["caption"].get<std::string>().find("The first 20 of 48 rows are drawn."),
            std::string::npos);
}

TEST(Figures, AxesHoldWholeIntervals) {
  if (!can_draw()) GTEST_SKIP() << "figures cannot be drawn here";
  json data = report_data(view_of(sample::input()), {});
  for (json& record : data["records"])
    if (record.contains("speedup")) record["speedup"] = {1.0, 0.05, 40.0};
  const json domain =
      asked(data,
            "(() => { const {y, series} = speedupAlong(AXES[0], compared), axis = scaleOfRatios(y, "
            "series, 'y'); return [domainOf({y: axis}, series, 'y'), axis.log]; })()");
  EXPECT_LE(domain[0][0].get<double>(), 0.05);
  EXPECT_GE(domain[0][1].get<double>(), 40);
  EXPECT_EQ(domain[1], true);
}

// What varies is the axis; if nothing does, there are bars with intervals, and no axis of one tick.
TEST(Figures, ChooseTheirAxis) {
  if (!can_draw()) GTEST_SKIP() << "figures cannot be drawn here";
  ReportInput one;
  sample::add_comparison(one.records, sample::work(8192, {{4096, 2}}), 1);
  json data = report_data(view_of(one), {});
  EXPECT_EQ(data["axes"], json::array());
  const json rows = asked(data, "speedupRows(compared)");
  EXPECT_EQ(rows["stems"], true);
  EXPECT_EQ(rows["rows"].size(), rows["series"].size());
  Case scaled = sample::work(8192, {{4096, 2}});
  scaled.score_scale = 4;
  sample::add_comparison(one.records, scaled, 1);
  data = report_data(view_of(one), {});
  ASSERT_EQ(data["axes"].size(), 1u);
  EXPECT_EQ(data["axes"][0]["title"], "score scale");
  EXPECT_EQ(data["axes"][0]["number"], true);
  EXPECT_EQ(asked(data, "speedupAlong(AXES[0], compared).x.ticks"), (json{1, 4}));
  EXPECT_EQ(asked(data, "speedupAlong(AXES[0], compared.slice(0, 1)).stems"), true) << "one tick is no axis";
  scaled.mask = Mask::causal;
  sample::add_comparison(one.records, scaled, 1);
  EXPECT_EQ(asked(report_data(view_of(one), {}), "AXES.map(({key, number}) => [key, number])"),
            json::parse(R"([["causal", false], ["score_scale", true]])"));
}

TEST(Figures, WindowsAreDrawnAgainstTheirPairs) {
  if (!can_draw()) GTEST_SKIP() << "figures cannot be drawn here";
  ReportInput input;
  input.records = sample::windowed_records();
  const json data = report_data(view_of(input), {});
  const json figure = asked(data, "speedupByPairs(windowed)");
  ASSERT_EQ(figure["labels"].size(), 1u) << "each window is named once";
  std::set<double> xs;
  for (const json& series : figure["series"])
    for (const json& point : series["points"]) xs.insert(point["x"].get<double>());
  EXPECT_EQ(xs.size(), 3u) << "raster, Hilbert and random order compute other pairs";
}

// Bytes of a ring of one size that lie far apart: their axis begins at 0 only if it is linear.
TEST(Figures, ALogarithmicAxisHasNoZero) {
  if (!can_draw()) GTEST_SKIP() << "figures cannot be drawn here";
  const json data = report_data(view_of(sample::input()), {});
  const json axis =
      asked(data,
            "(() => { const records = compared.slice(0, 2), values = new Map(records.map((one, at) => "
            "[one, 1000 ** at])); const {x, series} = rowsOfCases({title: '', axis: {min: 0, binary: "
            "true}, valueOf: (one) => [values.get(one), null, null, '']}, records); return "
            "[domainOf({x}, series, 'x'), ticksOf(x, domainOf({x}, series, 'x'))]; })()");
  EXPECT_GT(axis[0][0].get<double>(), 0);
  EXPECT_GT(axis[1].size(), 1u);
}

// One peak judges a case. A share that is more than an honest peak allows says so.
TEST(Figures, SharesAboveThePeakAreFlagged) {
  if (!can_draw()) GTEST_SKIP() << "figures cannot be drawn here";
  ReportInput input;
  sample::add_comparison(input.records, sample::work(8192, {{4096, 2}}), 1);
  for (Record& record : input.records) record.tflops = record.variant_id == "peak" ? 0.1 : 0.167;
  const json told =
      asked(report_data(view_of(input), {}), "DATA.records.map((record) => [record.id, shareText(record)])");
  for (const json& one : told)
    EXPECT_EQ(one[1], one[0] == "peak" ? "" : "167.0 % (peak measured too low)") << one[0];
}

}  // namespace
}  // namespace hilbench
