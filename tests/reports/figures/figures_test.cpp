#include "reports/figures/figures.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "tests/reports/rendered.hpp"
#include "tests/reports/sample_records.hpp"

namespace hilbench {
namespace {

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

TEST(Figures, TellPagesApart) {
  ReportInput input;
  Case work = sample::work(8192, {{4096, 2}});
  sample::add_comparison(input.records, work, 1);
  work.pages = PageSize::of_2m;
  sample::add_comparison(input.records, work, 1);
  bool drawn = false;
  for (const Plot& plot : plots_of(view_of(input), {})) {
    if (plot.name != "speedup_length") continue;
    drawn = true;
    for (const char* series : {"'hilbert, pages default'", "'hilbert, pages 2m'"})
      EXPECT_NE(plot.script.find(series), std::string::npos) << series;
  }
  EXPECT_TRUE(drawn);
}

TEST(Figures, SayWhatCouldNotBeDrawn) {
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

TEST(Figures, AreGivenUpWhereOneHangs) {
  Folder folder;
  const std::filesystem::path program = folder.path() / "hangs";
  std::ofstream(program) << "#!/bin/sh\nexec sleep 100\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const Drawn drawn = draw({{.name = "a", .script = "plot 1"}, {.name = "b", .script = "plot 1"}},
                           folder.path(), program, std::chrono::milliseconds(200));
  EXPECT_TRUE(drawn.figures.empty());
  ASSERT_EQ(drawn.notes.size(), 1u);
  EXPECT_NE(drawn.notes[0].find("still running after 0.2 s; no further figures"), std::string::npos)
      << drawn.notes[0];
}

}  // namespace
}  // namespace hilbench
