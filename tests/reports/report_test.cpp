// The whole report. tests/golden/report.md is its Markdown form with decimals masked, and
// tests/golden/tables.txt the header of every CSV. After a wanted change, run
//   HILBENCH_UPDATE_GOLDEN=1 build/tests/reports/reports_tests --gtest_filter='Golden.*'
// and read the difference before it is committed.
#include "reports/report.hpp"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <regex>
#include <set>
#include <sstream>

#include "harness/error.hpp"
#include "reports/document.hpp"
#include "reports/exported.hpp"
#include "reports/figures.hpp"
#include "reports/page_data.hpp"
#include "reports/tables.hpp"
#include "tests/reports/sample_records.hpp"

namespace hilbench {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "report-test-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~Folder() { fs::remove_all(path_); }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

bool has_gnuplot() {
  return std::system("gnuplot --version > /dev/null 2>&1") == 0;
}

void expect_golden(const std::string& name, const std::string& text) {
  const fs::path file = fs::path(HILBENCH_GOLDEN) / name;
  if (std::getenv("HILBENCH_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(file, std::ios::binary) << text;
    return;
  }
  EXPECT_EQ(text, read(file)) << "see the head of report_test.cpp for how to update " << file;
}

// Figures do not depend on gnuplot here, so that the golden text is the same where it is missing.
Document document_without_pictures(const ReportInput& input) {
  const View view = view_of(input);
  static const std::vector<ClaimRow> claims = load_claims({});
  const std::vector<ClaimAnswer> answers = answer_claims(claims, view);
  std::vector<Figure> figures;
  for (const Plot& plot : plots_of(view, answers))
    figures.push_back({plot.name, plot.title, plot.caption, ""});
  return document_of(view, answers, std::move(figures), {"a note"});
}

TEST(Golden, MarkdownReport) {
  const std::string text = to_markdown(document_without_pictures(sample::input()));
  expect_golden("report.md", std::regex_replace(text, std::regex(R"(\d+\.\d+(e[-+]\d+)?)"), "#.#"));
}

TEST(Tiles, TellALossThatWasReproducedFromAGain) {
  ReportInput input;
  const Case work = sample::work(16384, {{4096, 2}});  // claimed: 0.82 by one table, 2.66 by another
  for (const auto& [order, factor] : {std::pair{"linear", 1.0}, {"hilbert", 1.25}, {"random", 1.0}}) {
    input.records.push_back(sample::record(work, "dilated", order));
    sample::time(input.records.back(), 1, factor, 0);
  }
  const Document document = document_without_pictures(input);
  const auto tile = [&](std::string_view label) {
    for (const Tile& one : document.tiles)
      if (one.label == label) return one.value;
    return std::string("no tile");
  };
  EXPECT_EQ(tile("gains reproduced"), "0");
  EXPECT_EQ(tile("claims of a loss or of no difference reproduced"), "1");
  const std::string text = to_markdown(document);
  EXPECT_NE(text.find("reproduced: no gain claimed"), std::string::npos);
  input.records[1].variant.order_chunk = input.records[1].order_chunk = 64;  // not the order that was claimed
  EXPECT_TRUE(document_without_pictures(input).tiles.empty()) << "no claim is tested";
}

TEST(Peaks, AreTheHighestOfTheMachine) {
  ReportInput input;
  for (const std::int64_t length : {8192, 16384})
    sample::add_comparison(input.records, sample::work(length, {{4096, 2}}), 1);
  for (Record& record : input.records)
    if (record.variant_id == "peak" && record.work.sequence_length == 8192)
      record.tflops = 0.01;  // disturbed
  const auto peak_of = [&](std::size_t i) { return view_of(input).cases.at(i).peak_flops_per_s; };
  EXPECT_DOUBLE_EQ(peak_of(0).value(), 0.366e12);
  EXPECT_DOUBLE_EQ(peak_of(1).value(), 0.366e12);
  for (Record& record : input.records)
    if (record.work.sequence_length == 8192 && record.variant_id == "peak")
      record.counters["copy_bytes_per_s"].value = 1e9;
  EXPECT_DOUBLE_EQ(view_of(input).cases.at(0).copy_bytes_per_s.value(), 2.4e10);
  const auto with_change = [&](const std::function<void(Record&)>& change) {
    const std::vector<Record> kept = input.records;
    for (Record& record : input.records)
      if (record.work.sequence_length == 8192) change(record);
    const double peak = peak_of(0).value();
    input.records = kept;
    return peak;
  };
  EXPECT_DOUBLE_EQ(with_change([](Record& record) { record.threads = 1; }), 0.01e12) << "of fewer threads";
  EXPECT_DOUBLE_EQ(with_change([](Record& record) { record.environment["host"]["cpu"] = "another"; }),
                   0.01e12);
  EXPECT_DOUBLE_EQ(
      with_change([](Record& record) { record.environment["library"]["bf16_products"] = "amx"; }), 0.01e12);
  EXPECT_DOUBLE_EQ(with_change([](Record& record) { record.work.device = DeviceKind::cuda; }), 0.01e12)
      << "a GPU runs as its power allows";
  std::erase_if(input.records, [](const Record& record) {
    return record.variant_id == "peak" && record.work.sequence_length == 8192;
  });
  EXPECT_FALSE(peak_of(0)) << "where no peak was asked for, none stands";
}

// Linear and Hilbert order of a case for each of `chunks`; 0: over the whole length.
TEST(FirstSentences, TellOfEveryCaseAndNotOfTheClaimedChunksAlone) {
  const auto said_of = [](std::initializer_list<std::int64_t> chunks) {
    ReportInput input;
    std::int64_t length = 16384;
    for (const std::int64_t chunk : chunks) {
      const Case work = sample::work(length, {{4096, 2}});
      for (const auto& [order, factor] : {std::pair{"linear", 1.0}, {"hilbert", 0.9}}) {
        input.records.push_back(sample::record(work, "dilated", order));
        Record& made = input.records.back();
        if (made.variant.order == "hilbert") made.variant.order_chunk = made.order_chunk = chunk;
        sample::time(made, 1, factor, 0);
      }
      length *= 2;
    }
    return document_without_pictures(input).answer;
  };
  const std::string one_case = " against linear order, kernel time, 1 case: faster in 1";
  const std::vector<std::string> both = said_of({4096, 0});
  ASSERT_GE(both.size(), 2u);
  EXPECT_EQ(both[0].rfind("Hilbert order in chunks of 4096" + one_case, 0), 0u) << both[0];
  EXPECT_EQ(both[1].rfind("Hilbert order over the whole length" + one_case, 0), 0u) << both[1];
  const std::vector<std::string> claimed = said_of({4096});
  EXPECT_EQ(claimed[0].rfind("Hilbert order" + one_case, 0), 0u) << claimed[0];
  EXPECT_EQ(claimed[1].find("Hilbert"), std::string::npos) << claimed[1];
  const std::vector<std::string> whole = said_of({0});
  EXPECT_EQ(whole[0].rfind("Hilbert order over the whole length" + one_case, 0), 0u) << whole[0];
  const std::vector<std::string> other = said_of({64});
  EXPECT_EQ(other[0].rfind("No case here holds an order", 0), 0u) << other[0];
}

TEST(Tables, SayThatAVerdictIsWithheld) {
  ReportInput input = sample::input();
  const std::string words = "withheld: another process used the GPU";
  EXPECT_EQ(to_markdown(document_without_pictures(input)).find(words), std::string::npos);
  for (const std::size_t i : {0, 1}) {
    input.records[i].environment["device_state"] = {{"foreign_processes", 1}};
    input.records[i].speedup.reset();
  }
  EXPECT_NE(to_markdown(document_without_pictures(input)).find(words), std::string::npos);
}

TEST(Tables, TellWhatExplainsARatio) {
  std::vector<Record> records;
  Case work = sample::work(8192, {{4096, 2}});
  work.device = DeviceKind::cuda;
  sample::add_comparison(records, work, 1);
  for (const std::size_t i : {0, 1}) {
    const auto counter = [](double value) {
      return Counter{.value = value, .source = "cupti_range", .passes = 3};
    };
    records[i].counters["dram_read_bytes"] = counter(i == 0 ? 9e7 : 1.2e8);
    records[i].counters["dram_write_bytes"] = counter(3e7);
    records[i].counters["l2_read_hit_rate"] = counter(0.95);
    records[i].counters["l1_sectors_per_load"] = counter(i == 0 ? 14.1 : 8.57);
  }
  ReportInput input;
  input.records = records;
  const View view = view_of(input);
  const Table table = explained_table(view.cases);
  ASSERT_EQ(table.rows.size(), 2u) << "variants that nothing counted are left out";
  EXPECT_NE(to_markdown(table).find("| DRAM bytes / compulsory |"), std::string::npos);
  EXPECT_EQ(to_markdown(table).find("last-level"), std::string::npos)
      << "columns that nothing fills are left out";
  const std::string said = explanation(view.cases[0]);
  EXPECT_TRUE(said.starts_with("dilated/hilbert at ")) << said;
  EXPECT_NE(said.find("of dilated/linear (faster; random order, the control, at 0.9"), std::string::npos)
      << said;
  EXPECT_NE(said.find("slower): DRAM bytes per compulsory byte 2.50 against 2.00"), std::string::npos)
      << said;
  EXPECT_NE(said.find("L1 sectors per load request 8.57 against 14.1"), std::string::npos) << said;
}

TEST(Tables, KernelsStandAgainstEveryRivalThatComputesTheCase) {
  std::vector<Record> records;
  sample::add_comparison(records, sample::work(8192, {{4096, 2}}), 1);
  ReportInput input;
  input.records = records;
  const View view = view_of(input);
  const Table table = rivals_table(view);
  ASSERT_EQ(table.rows.size(), 1u)
      << "gemm alone: peak computes nothing, hilbert is no kernel in linear order";
  EXPECT_EQ(table.rows[0][3].text, "gemm");
  EXPECT_NEAR(std::stod(table.rows[0][4].text), 2.4, 0.02);
  EXPECT_NE(to_markdown(rivals_page_table(view)).find("| gemm |"), std::string::npos);
  EXPECT_FALSE(rivals_plot(view)) << "one rival is a column, not a picture";
  Record second = records[5];
  second.variant_id = "other";
  input.records.push_back(second);
  const auto plot = rivals_plot(view_of(input));
  ASSERT_TRUE(plot);
  EXPECT_NE(plot->script.find("title 'other'"), std::string::npos) << plot->script;
}

TEST(Tables, EveryRingOfAKernelStandsAgainstTheRivals) {
  std::vector<Record> records;
  sample::add_comparison(records, sample::work(8192, {{4096, 2}}), 1);
  Record zigzag = records.front();
  ASSERT_EQ(zigzag.variant_id, "dilated/linear");
  zigzag.variant.sharding = Sharding::zigzag;
  zigzag.variant_id = variant_id(zigzag.variant);
  records.push_back(zigzag);
  ReportInput input;
  input.records = records;
  const Table table = rivals_page_table(view_of(input));
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[1][1].text, table.rows[0][1].text + ", zigzag");
}

TEST(Tables, AVerdictSaysWhatOneProcessLeavesOpen) {
  Record record = sample::record(sample::work(8192, {{4096, 2}}), "dilated", "hilbert");
  sample::time(record, 1, 1, 0);
  record.speedup = Speedup{"dilated/linear", 0.995, {0.992, 0.998}, Verdict::slower};
  EXPECT_EQ(verdict_text(record), std::string("slower, ") + std::string(kUnsettled));
  record.time->process_rounds = {4, 4, 4};
  EXPECT_EQ(verdict_text(record), "slower");
  record.time->process_rounds = {12};
  record.speedup->ci = {0.97, 0.98};
  EXPECT_EQ(verdict_text(record), "slower");
  record.speedup.reset();
  EXPECT_EQ(verdict_text(record), "");
  record.environment["device_state"] = {{"foreign_processes", 1}};
  EXPECT_EQ(verdict_text(record), "withheld: another process used the GPU");
}

TEST(Tables, AHeadlineSumsUpTheRowsOfAClaim) {
  const ReportInput input = sample::input();
  const View view = view_of(input);
  const auto claims = load_claims({});  // answers refer to them
  const std::vector<ClaimAnswer> answers = answer_claims(claims, view);
  const Table table = headline_claims_table(answers);
  const Table judged = judged_claims_table(answers);
  EXPECT_GT(table.rows.size(), 2u);
  EXPECT_LT(table.rows.size(), judged.rows.size());
  std::set<std::pair<std::string, std::string>> seen;
  for (const auto& row : table.rows)
    EXPECT_TRUE(seen.insert({row[0].text, row[3].text}).second) << row[0].text;
  for (const auto& row : judged.rows) EXPECT_TRUE(seen.contains({row[0].text, row[2].text})) << row[0].text;
}

TEST(Document, SaysNothingOfHilbertOrderWithoutItsControl) {
  ReportInput input = sample::input();
  EXPECT_NE(document_without_pictures(input).answer[0].find("Random order, the negative control, in 4 of"),
            std::string::npos);
  std::erase_if(input.records, [](const Record& record) { return record.variant.order == "random"; });
  EXPECT_NE(document_without_pictures(input).answer[0].find("No random order stands beside it"),
            std::string::npos);
}

TEST(Figures, TellKernelsAndDtypesApart) {
  ReportInput input;
  sample::add_comparison(input.records, sample::work(8192, {{4096, 2}}), 1);
  Case other = sample::work(8192, {{4096, 2}});
  other.dtype = Dtype::bf16;
  sample::add_comparison(input.records, other, 1);
  input.records.back().tflops = 1.5;  // `peak` in bf16
  Record second = input.records[1];
  second.variant.kernel = "other";
  second.variant_id = "other/hilbert";
  input.records.push_back(second);
  const View view = view_of(input);
  for (const Plot& plot : plots_of(view, {})) {
    if (plot.name == "speedup_length") {
      for (const char* series :
           {"'dilated/hilbert, fp32'", "'dilated/hilbert, bf16'", "'other/hilbert, fp32'"})
        EXPECT_NE(plot.script.find(series), std::string::npos) << series;
    }
    if (plot.name == "roofline") {
      for (const char* roof : {"'measured limits, fp32'", "'measured limits, bf16'"})
        EXPECT_NE(plot.script.find(roof), std::string::npos) << roof;
    }
  }
}

TEST(Golden, TableHeaders) {
  const ReportInput input = sample::input();
  Folder folder;
  write_report(input, folder.path());
  std::string headers;
  std::set<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder.path() / "tables")) files.insert(entry.path());
  for (const fs::path& file : files) {
    const std::string text = read(file);
    headers += file.filename().string() + ": " + text.substr(0, text.find('\r')) + "\n";
  }
  expect_golden("tables.txt", headers);
}

// The page without the content of its scripts.
std::string markup_of(const std::string& html) {
  std::string markup;
  for (std::size_t at = 0; at < html.size();) {
    const std::size_t open = html.find("<script", at), body = html.find('>', open),
                      end = html.find("</script>", open);
    markup += html.substr(at, open == std::string::npos ? open : body + 1 - at);
    if (open == std::string::npos) break;
    at = end;
  }
  return markup;
}

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
  EXPECT_NE(html.find("Charts are left out: no Chart.js: install it"), std::string::npos);
}

TEST(Report, WritesEveryFile) {
  Folder folder;
  const ReportOutput output = write_report(sample::input(), folder.path() / "deep" / "er");
  EXPECT_EQ(output.folder, folder.path() / "deep" / "er");
  for (const char* file : {"report.html", "report.md", "tables/claims.csv", "tables/comparison.csv"})
    EXPECT_GT(fs::file_size(output.folder / file), 100u) << file;
  if (!has_gnuplot()) GTEST_SKIP() << "no gnuplot here: " << output.notes.at(0);
  EXPECT_TRUE(output.notes.empty() || output.notes[0].find("no Chart.js") == 0) << output.notes.at(0);
  for (const char* name : {"claims", "speedup_length", "speedup_dilation", "roofline", "times"}) {
    const std::string svg = read(output.folder / "figures" / (std::string(name) + ".svg"));
    EXPECT_NE(svg.find("<svg"), std::string::npos) << name;
    EXPECT_LT(svg.size(), 200'000u) << name;
    EXPECT_EQ(read(output.folder / "figures" / (std::string(name) + ".png")).substr(1, 3), "PNG") << name;
  }
}

TEST(Report, IsTheSameFromExportedRecords) {
  const ReportInput input = sample::input();
  Folder folder;
  std::ofstream records(folder.path() / "records.jsonl");
  for (const Record& record : input.records) records << to_json(record).dump() << '\n';
  records.close();
  std::ofstream(folder.path() / "meta.json") << nlohmann::json(input.meta);
  ASSERT_TRUE(holds_export(folder.path()));
  const ReportInput again = read_exported(folder.path());
  EXPECT_EQ(again.meta, input.meta);
  EXPECT_EQ(to_markdown(document_without_pictures(again)), to_markdown(document_without_pictures(input)));
  std::ofstream(folder.path() / "records.jsonl", std::ios::app) << "{}\n";
  EXPECT_THROW(read_exported(folder.path()), UsageError);
  std::ofstream(folder.path() / "results.sqlite") << "x";
  EXPECT_FALSE(holds_export(folder.path())) << "a store goes first";
  std::ofstream(folder.path() / "records.jsonl").close();
  EXPECT_THROW(read_exported(folder.path()), UsageError) << "empty";
}

std::string refusal(const fs::path& folder) {
  try {
    read_exported(folder);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "nothing refused";
}

TEST(Report, ReadsCompressedRecordsUnlessTheyAreCutShort) {
  Folder folder;
  const ReportInput input = sample::input();
  const fs::path file = folder.path() / "records.jsonl.gz";
  std::string text;
  for (const Record& record : input.records) text += to_json(record).dump() + '\n';
  const gzFile out = gzopen(file.c_str(), "wb");
  ASSERT_EQ(gzwrite(out, text.data(), static_cast<unsigned>(text.size())), static_cast<int>(text.size()));
  ASSERT_EQ(gzclose(out), Z_OK);
  ASSERT_TRUE(holds_export(folder.path()));
  EXPECT_EQ(read_results(folder.path()).records.size(), input.records.size());
  fs::resize_file(file, fs::file_size(file) / 2);
  EXPECT_NE(refusal(folder.path()).find("cannot be read"), std::string::npos) << refusal(folder.path());
}

TEST(Report, RefusesRecordsThatContradictThemselves) {
  Folder folder;
  const fs::path file = folder.path() / "records.jsonl";
  const auto refused = [&](const std::string& lines) {
    std::ofstream(file, std::ios::trunc) << lines;
    return refusal(folder.path());
  };
  nlohmann::json record = to_json(sample::input().records.at(1));
  const std::string good = record.dump() + "\n";
  EXPECT_NE(refused(good + good)
                .find("line 2): n8192-w2048-r1-h8-d64-fp32-p1-cpu/dilated/hilbert stands in "
                      "line 1 already"),
            std::string::npos)
      << refusal(folder.path());
  record["speedup"]["ci"] = {1.2, 1.1};
  EXPECT_NE(refused(record.dump()).find("'ci' is reversed"), std::string::npos) << refusal(folder.path());
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_NE(refused("{\"schema\": " + deep + "}").find("nested deeper than 100 levels"), std::string::npos)
      << refusal(folder.path());
  std::ofstream(folder.path() / "meta.json") << deep;
  EXPECT_NE(refused(good).find("nested deeper"), std::string::npos) << refusal(folder.path());
}

TEST(Report, RepeatsEachRowByAnExactCommand) {
  const ReportInput input = sample::input();
  const View view = view_of(input);
  const std::string csv = to_csv(commands_table(view.cases, view));
  EXPECT_NE(csv.find("hilbench run sweeps/quick.yaml --filter "
                     "'^n8192-w2048\\.4096-r1\\.2-h8-d64-fp32-p1-cpu/dilated/hilbert@tokens$' "
                     "--fresh -o results/quick-repeat"),
            std::string::npos)
      << csv;
}

TEST(Report, RepeatsTheOptionsThatChangeCases) {
  ReportInput input = sample::input();
  input.meta["sweep_file"] = "my sweeps/a.yaml";
  input.meta["command"] = "hilbench run a.yaml --axis threads=1,2 --device=cpu -o out";
  const View view = view_of(input);
  EXPECT_NE(to_csv(commands_table(view.cases, view))
                .find("hilbench run 'my sweeps/a.yaml' --axis threads=1,2 --device=cpu --filter "),
            std::string::npos);
}

TEST(Report, SaysWhatItCouldNotDraw) {
  Folder folder;
  const Drawn missing = draw({{.name = "x", .script = "plot 1"}}, folder.path(), "no-such-gnuplot");
  ASSERT_EQ(missing.notes.size(), 1u);
  EXPECT_NE(missing.notes[0].find("figures left out"), std::string::npos);
  if (!has_gnuplot()) GTEST_SKIP() << "no gnuplot here";
  const Drawn broken = draw(
      {{.name = "bad", .script = "plot nonsense("}, {.name = "good", .script = "plot 1"}}, folder.path());
  ASSERT_EQ(broken.figures.size(), 1u);
  EXPECT_EQ(broken.figures[0].name, "good");
  ASSERT_EQ(broken.notes.size(), 1u);
  EXPECT_NE(broken.notes[0].find("figure bad left out"), std::string::npos);
}

TEST(Report, DrawsHostileNamesAsText) {
  if (!has_gnuplot()) GTEST_SKIP() << "no gnuplot here";
  Folder folder;
  ReportInput input = sample::input();
  const std::string attack =
      "it's'; system('touch " + (folder.path() / "owned").string() + "') # \"`x`\"\n<b>";
  for (Record& record : input.records) {
    record.environment["host"]["cpu"] = attack;
    if (record.variant.order == "random") record.variant_id = "dilated/" + attack;
  }
  const ReportOutput output = write_report(input, folder.path() / "out");
  EXPECT_TRUE(output.notes.empty() || output.notes[0].find("no Chart.js") == 0) << output.notes.at(0);
  EXPECT_FALSE(fs::exists(folder.path() / "owned"));
  EXPECT_NE(read(folder.path() / "out/figures/times.svg").find("system("), std::string::npos);
  EXPECT_EQ(markup_of(read(folder.path() / "out/report.html")).find("<b>'"), std::string::npos);
}

TEST(Report, WorksWithoutRecordsAndWithFailuresOnly) {
  Folder folder;
  ReportInput empty;
  empty.source = "results/empty";
  write_report(empty, folder.path() / "empty");
  EXPECT_NE(read(folder.path() / "empty/report.md").find("nothing has been measured yet"), std::string::npos);
  ReportInput failures;
  for (const char* order : {"linear", "hilbert"})
    failures.records.push_back(
        sample::without_time(sample::work(8192, {{2048, 1}}), order, Status::failed, "killed by signal 9"));
  write_report(failures, folder.path() / "failures");
  const std::string text = read(folder.path() / "failures/report.md");
  EXPECT_NE(text.find("killed by signal 9"), std::string::npos);
  EXPECT_NE(text.find("dilated/linear is failed"), std::string::npos);
}

TEST(Report, FolderThatCannotBeWrittenIsAUsageError) {
  Folder folder;
  std::ofstream(folder.path() / "file") << "x";
  EXPECT_THROW(write_report(sample::input(), folder.path() / "file"), UsageError);
  ReportInput input = sample::input();
  input.claims_file = folder.path() / "file";
  EXPECT_THROW(write_report(input, folder.path() / "out"), UsageError);
  EXPECT_FALSE(fs::exists(folder.path() / "out")) << "bad input writes nothing";
}

// REPORT_SAMPLE=DIR keeps the sample's report, to be looked at.
TEST(Report, KeepsItsSampleWhereAsked) {
  const char* folder = std::getenv("REPORT_SAMPLE");
  if (folder == nullptr) GTEST_SKIP() << "REPORT_SAMPLE is not set";
  write_report(sample::input(), folder);
}

TEST(Report, TenThousandRecordsInThreeSeconds) {
  ReportInput input;
  input.meta["sweep"] = "large";
  input.records = sample::many(10'000);
  Folder folder;
  std::chrono::duration<double> took{1e9};  // the least of three: what else the machine does only ever adds
  for (int attempt = 0; attempt < 3 && took.count() >= 3; ++attempt) {
    const auto begin = std::chrono::steady_clock::now();
    write_report(input, folder.path());
    took = std::min<std::chrono::duration<double>>(took, std::chrono::steady_clock::now() - begin);
  }
  EXPECT_LT(took.count(), 3);
  EXPECT_LT(fs::file_size(folder.path() / "report.html"), 10'000'000u);
  RecordProperty("seconds", std::to_string(took.count()));
  for (const auto& entry : fs::directory_iterator(folder.path() / "figures"))
    EXPECT_TRUE(entry.path().extension() != ".svg" || fs::file_size(entry.path()) < 200'000u) << entry.path();
}

}  // namespace
}  // namespace hilbench
