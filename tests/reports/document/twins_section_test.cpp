#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "reports/document/sections.hpp"
#include "reports/tables/twins.hpp"
#include "reports/view/judge.hpp"
#include "tests/reports/rendered.hpp"
#include "tests/reports/sample_records.hpp"

namespace hilbench {
namespace {

// A case for each factor: a reference, and its twin, which takes this many times as long.
ReportInput twins_of(std::initializer_list<double> factors, std::vector<std::int64_t> process_rounds) {
  ReportInput input;
  std::int64_t length = 1024;
  for (const double factor : factors) {
    const Case work = sample::work(length *= 2, {{512, 1}});
    for (const bool twin : {false, true}) {
      Record& made = input.records.emplace_back(sample::record(work, "dilated", "linear"));
      sample::time(made, 1, twin ? factor : 1, twin ? 1 : 0);
      made.time->process_rounds = process_rounds;
      made.twin = twin;
      if (twin) made.variant_id += kTwinSuffix;
      made.reference = "dilated/linear";
    }
  }
  judge(input.records);
  return input;
}

TEST(TwinsSection, CountsWhatTheTwinsSay) {
  const ReportInput input = twins_of({1.0, 0.98, 1.1}, {3, 3, 3, 3});
  const Document document = document_without_pictures(input);
  EXPECT_EQ(
      document.answer.front(),
      "A twin is the reference measured once more, so it differs by noise alone: the 95 % interval "
      "excludes 1 for 2 of 3 twins (with 95 % probability 9.4 % to 99 %; 5 % are expected). Each judged by "
      "itself: 1 faster, 1 slower, 1 equivalent, 0 inconclusive.");
  const std::string text = to_markdown(document);
  EXPECT_NE(text.find("differ by at most 2 % in half of the cases, in 95 % of all cases by at most 10 %."),
            std::string::npos)
      << text;
  const Table table = twins_table(view_of(input));
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_EQ(table.rows[0][0].text.rfind("n8192-", 0), 0u) << "the farthest first";
  EXPECT_EQ(table.rows[1][0].text.rfind("n4096-", 0), 0u);
}

TEST(TwinsSection, SaysThatOneProcessTellsLess) {
  const std::string text = twins_sentence(view_of(twins_of({1.0, 1.1}, {12})));
  EXPECT_NE(text.find("1 for 1 of 2 twins (with 95 % probability 1.3 % to 99 %; more than 5 % are expected "
                      "within one process)"),
            std::string::npos)
      << text;
}

// Twins do not answer what another order is worth.
TEST(TwinsSection, LeadsOnlyIfNothingElseWasAskedFor) {
  ReportInput input = twins_of({1.0, 1.1}, {12});
  input.records.push_back(sample::record(input.records.front().work, "dilated", "random"));
  input.records.back().reference = "dilated/linear";
  const std::string said = document_without_pictures(input).answer.front();
  EXPECT_EQ(said.rfind("No case here has times of linear order", 0), 0u) << said;
}

TEST(TwinsSection, IsNotThereWithoutTwins) {
  for (const Section& section : document_without_pictures(sample::input()).sections)
    EXPECT_NE(section.id, "twins");
  EXPECT_EQ(twins_sentence(view_of(sample::input())), "");
}

}  // namespace
}  // namespace hilbench
