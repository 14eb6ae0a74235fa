#include "reports/export/export.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "kernels/base/text/error.hpp"
#include "reports/export/latex_text.hpp"

namespace hilbench {
namespace {

using nlohmann::json;

Record timed_record() {
  Record record{{.case_id = "n8", .kernel = "dilated_cpu", .threads = 2}};
  record.sweep = "quick";
  record.work.pattern = {{2048, 1}, {4096, 2}};
  record.variant.change().name = "dilated";
  record.variant_id = "dilated/linear";
  record.time = {.median_ns = 2, .ci_ns = {1, 3}, .samples_ns = {1, 2, 3}, .process_rounds = {3}};
  record.counters["page_faults"] = {.value = 7, .unit = "count"};
  record.environment = {
      {"host", {{"cpu", "x"}, {"caches", {{{"level", 1}, {"bytes", 32768}, {"shared_by", 1}}}}}}};
  return record;
}
Record failed_record() {
  Record record = timed_record();
  record.variant_id = "dilated/hilbert";
  record.status = Status::failed;
  record.reason = "said \"no\", then\nended";
  record.time.reset();
  record.counters.clear();
  return record;
}

constexpr std::array<const char*, 4> kOfOtherTools = {"latex", "gbench", "bencher", "github"};

std::string exported(std::string_view format, const std::vector<Record>& records) {
  std::ostringstream out;
  export_records(format, records, out);
  return out.str();
}

TEST(Export, JsonlIsOneRecordALine) {
  const std::string text = exported("jsonl", {timed_record(), failed_record()});
  std::istringstream lines(text);
  std::vector<json> read;
  for (std::string line; std::getline(lines, line);) read.push_back(json::parse(line));
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0], to_json(timed_record()));
  EXPECT_EQ(read[1]["reason"], "said \"no\", then\nended");
}

TEST(Export, OtherToolsGetNoTwins) {
  Record twin = timed_record();
  twin.twin = true;
  twin.variant_id += "@twin";
  for (const char* format : kOfOtherTools)
    EXPECT_EQ(exported(format, {timed_record(), twin}).find("@twin"), std::string::npos) << format;
  for (const char* format : {"jsonl", "csv", "csv-samples"})
    EXPECT_NE(exported(format, {timed_record(), twin}).find("@twin"), std::string::npos) << format;
}

TEST(Export, OtherToolsGetNoInjectedWork) {
  Record injected = timed_record();
  injected.injected = 0.1;
  injected.variant_id = "dilated/slowed";
  for (const char* format : kOfOtherTools)
    EXPECT_EQ(exported(format, {timed_record(), injected}).find("slowed"), std::string::npos) << format;
  const std::string csv = exported("csv", {injected});
  EXPECT_NE(csv.find(",injected,"), std::string::npos);
  EXPECT_NE(csv.find(",0.1,"), std::string::npos) << csv;
}

TEST(Export, CsvQuotesAsTheRfcSays) {
  const std::string text = exported("csv", {timed_record(), failed_record()});
  EXPECT_EQ(text.rfind("sweep,case,variant,twin,kind,status,reason,", 0), 0u);
  EXPECT_NE(text.find("\r\nquick,n8,dilated/linear,false,kernel,ok,,"), std::string::npos) << text;
  EXPECT_NE(text.find(",failed,\"said \"\"no\"\", then\nended\","), std::string::npos) << text;
  EXPECT_NE(text.find(",2048 4096,"), std::string::npos);
  EXPECT_NE(text.find(",counter_page_faults,"), std::string::npos);
  EXPECT_EQ(text.substr(text.size() - 2), "\r\n");
}

TEST(Export, HoldsTheEnergyOfSteadySamples) {
  Record record = timed_record();
  const json plain = json::parse(exported("jsonl", {record}));
  EXPECT_TRUE(plain.at("energy_j").is_null() && plain.at("params").at("steady_s").is_null());
  record.steady_s = 2;
  record.energy = Energy{.median_j = 41.5, .samples_j = {41, 41.5, 43}, .source = "nvml"};
  const std::string csv = exported("csv", {record});
  EXPECT_NE(csv.find(",energy_median_j,energy_samples_j,energy_source,energy_reason,"), std::string::npos)
      << csv;
  EXPECT_NE(csv.find(",steady_s,"), std::string::npos) << csv;
  EXPECT_NE(csv.find(",41.5,41.0 41.5 43.0,nvml,,"), std::string::npos) << csv;
  record.energy = Energy{.reason = "no counter"};
  EXPECT_NE(exported("csv", {record}).find(",,,,no counter,"), std::string::npos)
      << exported("csv", {record});
}

TEST(Export, CsvSaysWhatMachineItWas) {
  Record record = timed_record();
  (*record.environment)["device"] = {{"name", "NVIDIA Test"}};
  (*record.environment)["device_state"] = {
      {"driver", "580.1"}, {"power_limit_w", 700.0}, {"sm_mhz", {1200, 1980}}, {"memory_mhz", nullptr}};
  std::ostringstream out;
  export_records("csv", {record}, out, "=node-7");
  EXPECT_NE(out.str().find(",host_cpu,hostname,gpu_name,gpu_driver,gpu_power_limit_w,gpu_sm_mhz_least,"
                           "gpu_sm_mhz_most,gpu_memory_mhz_least,gpu_memory_mhz_most,"),
            std::string::npos)
      << out.str();
  EXPECT_NE(out.str().find(",x,'=node-7,NVIDIA Test,580.1,700.0,1200,1980,,,"), std::string::npos)
      << out.str();
}

TEST(Export, CsvHasTheDigitsThatTheIntervalSupports) {
  Record record = timed_record();
  record.time->median_ns = 1549363.127092648;
  record.time->ci_ns = {1548811.8103197138, 1549914.6401129134};
  record.tflops = 44.353370449024986;
  record.speedup = Measured{.ratio = 1.02345678, .ci = {1.01234567, 1.03456789}, .against = "a"};
  const std::string csv = exported("csv", {record});
  EXPECT_NE(csv.find(",1549360,1548810,1549910,"), std::string::npos) << csv;
  EXPECT_NE(csv.find(",44.353,"), std::string::npos) << csv;
  EXPECT_NE(csv.find(",a,1.023,1.012,1.035,"), std::string::npos) << csv;
}

TEST(Export, CsvSamplesHasARowForEachSample) {
  Record record = timed_record();
  record.case_id = "=n8";
  record.time->process_rounds = {2, 1};
  (*record.environment)["processes"] = {{{"seed", 5}}, {{"seed", 6}}};
  record.steady_s = 2;
  record.energy = Energy{.median_j = 8, .samples_j = {7, 8, 9}, .source = "nvml"};
  record.time->timer = "steady_clock";
  EXPECT_EQ(exported("csv-samples", {record, failed_record()}),
            "sweep,case,variant,twin,injected,process,seed,round,time_ns,energy_j,timer\r\n"
            "quick,'=n8,dilated/linear,false,0,0,5,0,1,7,steady_clock\r\n"
            "quick,'=n8,dilated/linear,false,0,0,5,1,2,8,steady_clock\r\n"
            "quick,'=n8,dilated/linear,false,0,1,6,0,3,9,steady_clock\r\n");
}

TEST(Export, LatexHasARowForEachVariantUnderItsCase) {
  Record record = timed_record();
  record.time->median_ns = 1549363;
  record.time->ci_ns = {1548811, 1549914};
  record.tflops = 44.353370;
  record.speedup =
      Measured{.ratio = 1.02345678, .ci = {1.0123, 1.0345}, .verdict = Verdict::inconclusive, .against = "a"};
  const std::string text = exported("latex", {record, failed_record()});
  EXPECT_NE(text.find("\\midrule\n\\multicolumn{5}{l}{n8} \\\\\n"
                      "dilated/linear & 1.54936 [1.54881, 1.54991] & 44.353 & 1.023 [1.012, 1.034] & "
                      "inconclusive \\\\\n\\bottomrule\n\\end{tabular}\n"),
            std::string::npos)
      << text;
}

TEST(Export, LatexTextActsOnNothing) {
  EXPECT_EQ(latex_text("a_b$c&d#e%f{g}"), "a\\_b\\$c\\&d\\#e\\%f\\{g\\}");
  EXPECT_EQ(latex_text("\\input|\"~^<>"),
            "\\textbackslash{}input\\textbar{}\\char34{}\\textasciitilde{}\\textasciicircum{}"
            "\\textless{}\\textgreater{}");
  EXPECT_EQ(latex_text("[1]*--x,,`'"), "{[}1]{*}-{}-x,{},{`}{'}");
  EXPECT_EQ(latex_text("a\n\x1b\u00e9\u2028z"), "a  ??z");
}

TEST(Export, EveryFormatTakesHostileTexts) {
  Record record = timed_record();
  record.case_id = "=\\n8[&%$#_{}~^\"'\xff<script>\n@";
  record.variant_id = "-\\end{tabular}\x01";
  record.sweep = "+\xc3";
  (*record.environment)["device"] = {{"name", "@\xe2\x28"}};
  for (const std::string_view format : export_formats()) {
    const std::string text = exported(format, {record});
    const bool is_json = !format.starts_with("csv") && format != "latex";
    EXPECT_TRUE(!is_json || json::accept(text)) << format;
    EXPECT_EQ(text.find("& \\end{tabular}"), std::string::npos) << format;
  }
  const std::string latex = exported("latex", {record});
  EXPECT_EQ(latex.find("\\end{tabular}"), latex.size() - std::string("\\end{tabular}\n").size()) << latex;
}

TEST(Export, CsvFindsCountersOfAnyName) {
  Record record = timed_record();
  record.counters = {{"a~b", {.value = 31, .unit = "count"}}, {"a/b", {.value = 47, .unit = "count"}}};
  const std::string text = exported("csv", {record});
  EXPECT_NE(text.find(",counter_a/b,counter_a~b,"), std::string::npos) << text;
  EXPECT_NE(text.find(",47.0,31.0,"), std::string::npos) << text;
}

TEST(Export, EveryFormatTakesEnvironmentsOfAnyShape) {
  for (const json& odd :
       {json(), json(5), json({{"host", 5}}), json({{"host", {{"caches", 5}}}}),
        json({{"host", {{"caches", {5}}}}}), json({{"host", {{"caches", {json::object()}}}}})})
    for (const std::string_view format : export_formats()) {
      Record record = timed_record();
      record.environment = odd;
      EXPECT_NE(exported(format, {record}), "") << format << ": " << odd;
    }
}

TEST(Export, CsvHoldsNothingThatATerminalWouldActOn) {
  Record record = failed_record();
  record.reason = "\x1b[31mred\x07";
  EXPECT_NE(exported("csv", {record}).find(",failed, [31mred ,"), std::string::npos);
}

TEST(Export, CsvOfNothingIsItsHeader) {
  EXPECT_EQ(exported("csv", {}).find("\r\n"), exported("csv", {}).size() - 2);
}

TEST(Export, GbenchHasARunForEverySample) {
  const json file = json::parse(exported("gbench", {timed_record(), failed_record()}));
  ASSERT_EQ(file["benchmarks"].size(), 3u);
  const json& last = file["benchmarks"][2];
  EXPECT_EQ(last["name"], "n8/dilated/linear");
  EXPECT_EQ(last["run_type"], "iteration");
  EXPECT_EQ(last["repetitions"], 3);
  EXPECT_EQ(last["repetition_index"], 2);
  EXPECT_EQ(last["real_time"], 3);
  EXPECT_EQ(last["time_unit"], "ns");
  EXPECT_EQ(file["context"]["host_name"], "x");
  EXPECT_EQ(file["context"]["caches"][0]["size"], 32768);
}

TEST(Export, BencherHasMeasuresWithTheirBounds) {
  Record record = timed_record();
  record.tflops = 1.5;
  record.speedup = Measured{.ratio = 1.1, .ci = {1.05, 1.2}, .against = "dilated/linear"};
  const json file = json::parse(exported("bencher", {record, failed_record()}));
  EXPECT_EQ(file, (json{{"n8/dilated/linear",
                         {{"latency", {{"value", 2.0}, {"lower_value", 1.0}, {"upper_value", 3.0}}},
                          {"tflops", {{"value", 1.5}}},
                          {"speedup", {{"value", 1.1}, {"lower_value", 1.05}, {"upper_value", 1.2}}}}}}));
  EXPECT_EQ(json::parse(exported("bencher", {})), json::object());
}

TEST(Export, GithubHasTimes) {
  const json times = json::parse(exported("github", {timed_record(), failed_record()}));
  ASSERT_EQ(times.size(), 1u);
  EXPECT_EQ(times[0]["name"], "n8/dilated/linear");
  EXPECT_EQ(times[0]["unit"], "ns");
  EXPECT_EQ(times[0]["value"], 2.0);
  EXPECT_EQ(times[0]["range"], "1 to 3");
}

TEST(Export, NoFormatPrintsWhatIsNotFinite) {
  Record record = timed_record();
  record.time->median_ns = record.time->samples_ns[1] = std::numeric_limits<double>::infinity();
  record.tflops = std::numeric_limits<double>::quiet_NaN();
  for (const std::string_view format : export_formats()) {
    const std::string text = exported(format, {record});
    for (const char* word : {"NaN", "nan", "Inf", "inf"})
      EXPECT_EQ(text.find(word), std::string::npos) << format;
  }
}

TEST(Export, UnknownFormatNamesTheNearest) {
  try {
    exported("json", {});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'jsonl'?"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace hilbench
