#include <gtest/gtest.h>

#include <string>

#include "reports/document/sections.hpp"
#include "reports/tables/twins.hpp"
#include "tests/reports/rendered.hpp"
#include "tests/reports/sample_records.hpp"

namespace hilbench {
namespace {

// A case for each factor: a reference, and its twin, which takes this many times as long.
ReportInput twins_of(std::initializer_list<double> factors) {
  ReportInput input;
  std::int64_t length = 1024;
  for (const double factor : factors) {
    const Case work = sample::work(length *= 2, {{512, 1}});
    for (const bool twin : {false, true}) {
      Record& made = input.records.emplace_back(sample::record(work, "dilated", "linear"));
      sample::time(made, 1, twin ? factor : 1, twin ? 1 : 0);
      made.twin = twin;
      if (twin) made.variant_id += kTwinSuffix;
      made.reference = "dilated/linear";
    }
  }
  judge(input.records);
  return input;
}

TEST(TwinsSection, CountsWhatTheTwinsSay) {
  const ReportInput input = twins_of({1.0, 1.1, 0.98});
  const Document document = document_without_pictures(input);
  EXPECT_EQ(document.answer.front(),
            "A twin is the reference measured once more, so it differs by noise alone: the 95 % interval "
            "excludes 1 for 2 of 3 twins (5 % are expected). Judged as variants: 1 faster, 1 slower, 0 "
            "equivalent, 1 inconclusive.");
  const std::string text = to_markdown(document);
  EXPECT_NE(text.find("differ by at most 1.9 % in half of the cases, and by at most 10 % in 95 % of them."),
            std::string::npos)
      << text;
  EXPECT_LT(text.find("| n4096-"), text.find("| n8192-")) << "the farthest first";
}

TEST(TwinsSection, IsNotThereWithoutTwins) {
  EXPECT_TRUE(twins_section(view_of(sample::input())).blocks.empty());
  EXPECT_EQ(twins_sentence(view_of(sample::input())), "");
}

}  // namespace
}  // namespace hilbench
