#include "reports/figures/draw.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "kernels/base/process/held_signals.hpp"
#include "reports/figures/report_data.hpp"
#include "reports/view/chain.hpp"
#include "tests/reports/rendered.hpp"
#include "tests/reports/sample_records.hpp"

namespace hilbench {
namespace {

nlohmann::json data_of(const ReportInput& input) {
  return report_data(view_of(input), {});
}

// Puts `more` behind every text of `value` that comes from records, however deep. The rest chooses what is
// drawn.
void add_to_texts(nlohmann::json& value, const std::string& more) {
  if (value.is_string()) value = value.get<std::string>() + more;
  if (value.is_array())
    for (nlohmann::json& one : value) add_to_texts(one, more);
  if (value.is_object())
    for (const auto& [key, one] : value.items())
      if (key != "status" && key != "dtype" && key != "pages" && key != "key" && key != "file" &&
          key != "unit")
        add_to_texts(one, more);
}

std::string escaped(std::string text) {
  for (const auto& [from, to] : {std::pair{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}})
    text = std::regex_replace(text, std::regex(from), to);
  return text;
}

// A program of a folder that does what `script` says.
std::string program(const fs::path& folder, const char* name, const char* script) {
  std::ofstream(folder / name) << "#!/bin/sh\n" << script << '\n';
  fs::permissions(folder / name, fs::perms::owner_all);
  return folder / name;
}

constexpr const char* kWritesOne = R"(
printf '[{"name":"a","title":"A <b>","caption":"c"},{"name":"b","fault":"no\\nluck"}]' > "$3/figures.json"
printf '<svg/>' > "$3/a.svg")";

ChartLibrary any_library() {
  return {.script = "// none is needed", .note = ""};
}

// This process may hold signals back while it draws; what it starts must not.
TEST(Draw, StartsProgramsThatSignalsReach) {
  Folder folder;
  const std::string mask = folder.path() / "mask",
                    script = "grep SigBlk /proc/self/status > '" + mask + "'; exit 1";
  const DrawTools tools{.node = program(folder.path(), "node", script.c_str())};
  const HeldSignals held;
  draw({}, any_library(), folder.path(), "", tools);
  EXPECT_NE(read(mask).find("0000000000000000"), std::string::npos) << read(mask);
}

TEST(Draw, TellsKernelsAndDtypesApart) {
  if (!can_draw()) GTEST_SKIP() << "figures cannot be drawn here";
  ReportInput input;
  sample::add_comparison(input.records, sample::work(8192, {{4096, 2}}), 1);
  Case other = sample::work(16384, {{4096, 2}});
  other.dtype = Dtype::bf16;
  sample::add_comparison(input.records, other, 1);
  input.records.back().tflops = 1.5;  // `peak` in bf16
  Record second = input.records[1];
  second.variant.change().name = "other";
  second.variant_id = "other/hilbert";
  input.records.push_back(second);
  Folder folder;
  draw(data_of(input), find_chart_library({}), folder.path());
  const std::string speedups = read(folder.path() / "speedup_length.svg");
  for (const char* series : {">dilated/hilbert, fp32<", ">dilated/hilbert, bf16<", ">other/hilbert, fp32<"})
    EXPECT_NE(speedups.find(series), std::string::npos) << series;
  const std::string roofs = read(folder.path() / "roofline.svg");
  for (const char* roof : {">measured limits, fp32<", ">measured limits, bf16<"})
    EXPECT_NE(roofs.find(roof), std::string::npos) << roof;
}

TEST(Draw, TellsPagesApart) {
  if (!can_draw()) GTEST_SKIP() << "figures cannot be drawn here";
  ReportInput input;
  Case work = sample::work(8192, {{4096, 2}});
  sample::add_comparison(input.records, work, 1);
  Folder one;
  draw(data_of(input), find_chart_library({}), one.path());
  EXPECT_FALSE(fs::exists(one.path() / "speedup_length.svg")) << "one length is no axis";
  work = sample::work(16384, {{4096, 2}});
  work.pages = PageSize::of_2m;
  sample::add_comparison(input.records, work, 1);
  Folder folder;
  draw(data_of(input), find_chart_library({}), folder.path());
  const std::string speedups = read(folder.path() / "speedup_length.svg");
  for (const char* series : {">dilated/hilbert, pages default<", ">dilated/hilbert, pages 2m<"})
    EXPECT_NE(speedups.find(series), std::string::npos) << series;
}

TEST(Draw, RivalsArePicturedIfThereAreTwo) {
  if (!can_draw()) GTEST_SKIP() << "figures cannot be drawn here";
  ReportInput input;
  sample::add_comparison(input.records, sample::work(8192, {{4096, 2}}), 1);
  Folder folder;
  draw(data_of(input), find_chart_library({}), folder.path());
  EXPECT_FALSE(fs::exists(folder.path() / "rivals.svg")) << "one rival is a column, not a picture";
  Record second = input.records[5];
  ASSERT_EQ(second.variant_id, "gemm");
  second.variant_id = "other";
  input.records.push_back(second);
  draw(data_of(input), find_chart_library({}), folder.path());
  EXPECT_NE(read(folder.path() / "rivals.svg").find(">other<"), std::string::npos);
}

TEST(Draw, AChainNamesItsStepsBesideTheAxis) {
  if (!can_draw()) GTEST_SKIP() << "figures cannot be drawn here";
  ReportInput input;
  sample::add_comparison(input.records, sample::work(8192, {{4096, 2}}), 1);
  Chain chain{.steps = {{"dilated/linear", ""},
                        {"dilated/hilbert",
                         "a curve, with a description that is too long for one line beside the axis"},
                        {"dilated/random", "no curve"}},
              .end = 1,
              .claimed = {{input.records.front().case_id, 7.95}}};
  input.meta["chain"] = chain_text(chain);
  Folder folder;
  draw(data_of(input), find_chart_library({}), folder.path());
  const std::string picture = read(folder.path() / "chain.svg");
  EXPECT_NE(picture.find(">7.95 was reported<"), std::string::npos);
  EXPECT_NE(picture.find("<tspan>dilated/hilbert: a curve"), std::string::npos) << picture;
  EXPECT_FALSE(fs::exists(folder.path() / "protocols.svg"));
  for (Record& record : input.records)
    if (record.variant_id == "dilated/linear" || record.variant_id == "dilated/hilbert")
      record.time->protocols = {{{1, EndTurn::first, CacheState::warm}, {1e6, 3e6}, {2}}};
  draw(data_of(input), find_chart_library({}), folder.path());
  const std::string single = read(folder.path() / "protocols.svg");
  EXPECT_NE(single.find("1 run, end first, warm (reported)"), std::string::npos) << single;
}

TEST(Draw, SaysWhatIsLeftOutOfALargeStore) {
  if (!can_draw()) GTEST_SKIP() << "figures cannot be drawn here";
  ReportInput input;
  input.records = sample::many(3'000);
  Folder folder;
  std::map<std::string, std::string> captions;
  for (const Figure& figure : draw(data_of(input), find_chart_library({}), folder.path()).figures)
    captions[figure.name] = figure.caption;
  EXPECT_NE(captions["speedup_length"].find("Points are medians of neighbouring cases"), std::string::npos)
      << captions["speedup_length"];
  EXPECT_TRUE(std::regex_search(captions["times"], std::regex(R"(\d+ of \d+ cases are drawn\.)")))
      << captions["times"];
}

TEST(Draw, DrawsOneIfAsked) {
  if (!can_draw()) GTEST_SKIP() << "figures cannot be drawn here";
  Folder folder;
  const Drawn drawn = draw(data_of(sample::input()), find_chart_library({}), folder.path(), "figure");
  ASSERT_EQ(drawn.figures.size(), 1u);
  EXPECT_EQ(drawn.figures[0].name, "figure");
  EXPECT_TRUE(fs::exists(folder.path() / "figure.png"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 2);
}

TEST(Draw, NoTextBecomesAnElement) {
  if (!can_draw()) GTEST_SKIP() << "figures cannot be drawn here";
  const ReportInput input = sample::input();
  const View view = view_of(input);
  nlohmann::json data = report_data(view, answer_claims(load_claims({}), view));
  data["rivals"].push_back(data["rivals"].at(0));
  data["rivals"].back()["rival"] = "other";
  add_to_texts(data, std::string(sample::kHostile) + "\x01\x1b\v\n\u2028\ufffe");
  Folder folder;
  const Drawn drawn = draw(data, find_chart_library({}), folder.path());
  EXPECT_EQ(drawn.notes, std::vector<std::string>{});
  EXPECT_EQ(drawn.figures.size(), 8u);
  std::size_t hostile_titles = 0;
  for (const Figure& figure : drawn.figures) {
    const std::string svg = read(folder.path() / (figure.name + ".svg"));
    EXPECT_EQ(svg.find("<script"), std::string::npos) << figure.name;
    EXPECT_NE(svg.find("&lt;script&gt;"), std::string::npos) << figure.name;
    EXPECT_EQ(svg.find('\x01'), std::string::npos) << figure.name << ": XML has no such character";
    EXPECT_TRUE(fs::exists(folder.path() / (figure.name + ".png"))) << figure.name << ": not well-formed";
    hostile_titles += figure.title.find("<script>") != std::string::npos;
    const std::string title = figure.title.substr(0, figure.title.find('\x01'));
    EXPECT_NE(svg.find("<title>" + escaped(title)), std::string::npos) << figure.name;
  }
  EXPECT_GT(hostile_titles, 0u);
}

TEST(Draw, SaysWhichProgramIsMissing) {
  Folder folder;
  const Drawn missing = draw({}, any_library(), folder.path(), "", {.node = "no-such-node"});
  EXPECT_TRUE(missing.figures.empty());
  EXPECT_EQ(missing.notes, std::vector<std::string>{"no no-such-node: figures left out; install it (Debian, "
                                                    "Ubuntu: nodejs) and report again"});
  const std::string node = program(folder.path(), "node", kWritesOne);
  const Drawn coarse =
      draw({}, any_library(), folder.path(), "", {.node = node, .rsvg_convert = "no-such-rsvg"});
  ASSERT_EQ(coarse.figures.size(), 1u);
  ASSERT_EQ(coarse.notes.size(), 2u);
  EXPECT_EQ(coarse.notes[0].find("no no-such-rsvg: figures have no .png; install it"), 0u) << coarse.notes[0];
  EXPECT_TRUE(draw({}, {}, folder.path(), "", {.node = node}).figures.empty()) << "there is no Vega";
}

TEST(Draw, SaysWhatCouldNotBeDrawn) {
  Folder folder;
  const std::string node = program(folder.path(), "node", kWritesOne);
  const std::string convert = program(folder.path(), "convert", "printf PNG > \"$4\"");
  const Drawn drawn = draw({}, any_library(), folder.path(), "", {.node = node, .rsvg_convert = convert});
  ASSERT_EQ(drawn.figures.size(), 1u);
  EXPECT_EQ(drawn.figures[0].title, "A <b>");
  EXPECT_EQ(read(folder.path() / "a.png"), "PNG");
  EXPECT_EQ(drawn.notes, std::vector<std::string>{"figure b left out: no luck"});
  const std::string fails = program(folder.path(), "fails", "echo 'out of memory' >&2; exit 3");
  EXPECT_EQ(draw({}, any_library(), folder.path(), "", {.node = fails}).notes,
            std::vector<std::string>{"figures left out: " + fails + ": out of memory"});
}

TEST(Draw, GivesUpWhatHangs) {
  Folder folder;
  const std::string hangs = program(folder.path(), "hangs", "exec sleep 100");
  const Drawn drawn =
      draw({}, any_library(), folder.path(), "", {.node = hangs, .limit = std::chrono::milliseconds(200)});
  EXPECT_TRUE(drawn.figures.empty());
  EXPECT_EQ(drawn.notes,
            std::vector<std::string>{"figures left out: " + hangs + ": still running after 0.2 s"});
}

}  // namespace
}  // namespace hilbench
