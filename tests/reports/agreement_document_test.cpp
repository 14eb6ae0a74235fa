#include "reports/agreement_document.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/reports/sample_records.hpp"

namespace hilbench {
namespace {

// A case in which orders are `factor` times as fast as linear order.
ReportInput run_with(double hilbert, double random) {
  ReportInput input;
  input.meta["sweep"] = "quick";
  const Case work = sample::work(8192, {{4096, 2}});
  for (const auto& [order, speedup] : {std::pair{"linear", 1.0}, {"hilbert", hilbert}, {"random", random}}) {
    Record& made = input.records.emplace_back(sample::record(work, "dilated", order));
    sample::time(made, 1, 1 / speedup, 0);
    if (order != std::string("linear")) sample::compare_with(made, input.records.front());
  }
  return input;
}

TEST(Agreement, KnowsFourKinds) {
  EXPECT_EQ(agreement_of(Verdict::faster, Verdict::faster), Agreement::same);
  EXPECT_EQ(agreement_of(Verdict::faster, Verdict::slower), Agreement::opposite);
  EXPECT_EQ(agreement_of(Verdict::equivalent, Verdict::slower), Agreement::differs);
  EXPECT_EQ(agreement_of(Verdict::inconclusive, Verdict::slower), Agreement::open);
  EXPECT_EQ(agreement_of(ClaimVerdict::reproduced, ClaimVerdict::contradicted), Agreement::opposite);
  EXPECT_EQ(agreement_of(ClaimVerdict::no_gain, ClaimVerdict::excluded), Agreement::differs);
  EXPECT_EQ(agreement_of(ClaimVerdict::no_gain, ClaimVerdict::inconclusive), Agreement::open);
}

TEST(Agreement, SaysWhatReplicatesAndShowsTheRest) {
  std::vector<PublishedRun> published;
  published.push_back({"h100/quick", run_with(1.2, 0.5)});
  published.push_back({"h200/quick", run_with(1.25, 2)});
  const std::string text = to_markdown(agreement_document(run_with(1.25, 0.5), published));
  EXPECT_NE(text.find("2 of 2 verdicts in h100/quick replicate here. Of the others, 0 are opposite"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("Ratios differ by at most 4.2 %."), std::string::npos) << text;
  EXPECT_NE(text.find("1 of 2 verdicts in h200/quick replicate here. Of the others, 1 is opposite"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("| opposite | n 8192, 4096/2, h 8, d 64, fp32 | dilated/random |"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("| same |", text.find("do not replicate")), std::string::npos);
}

TEST(Agreement, SaysThatNothingIsShared) {
  ReportInput other = run_with(1.2, 1);
  other.records.resize(1);  // linear order alone
  std::vector<PublishedRun> published;
  published.push_back({"h100/quick", std::move(other)});
  const std::string text = to_markdown(agreement_document(run_with(1.2, 1), published));
  EXPECT_NE(text.find("None of the published runs has a case and variant of this one"), std::string::npos)
      << text;
}

}  // namespace
}  // namespace hilbench
