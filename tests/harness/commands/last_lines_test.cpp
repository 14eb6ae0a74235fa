#include "harness/commands/last_lines.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "reports/findings/headline.hpp"
#include "reports/view/view.hpp"
#include "tests/harness/plan/planning.hpp"
#include "tests/reports/sample_records.hpp"

namespace hilbench {
namespace {

constexpr const char* kTwoCases = "axes: {sequence_length: [1024, 2048], segments: [[1024]]}\n";

// A run of which nothing is done yet.
struct SmallRun {
  explicit SmallRun(const std::string& measure = "")
      : sweep(parse_sweep("name: plan\n" + std::string(kTwoCases) + kVariants + measure, "plan.yaml")),
        plan(make_plan(sweep, planning_site())) {}
  std::optional<NextRun> next(const std::string& command, std::int64_t processes,
                              bool undecided = false) const {
    return next_run(command, sweep, plan, {processes, undecided}, progress);
  }
  Sweep sweep;
  Plan plan;
  Progress progress{stderr, Progress::Style::silent};
};

TEST(NextRun, IsTheSameRunInAsManyProcessesAsResultsNeed) {
  const SmallRun run;
  for (const auto& [typed, next] :
       {std::pair{"hilbench run quick", "hilbench run quick --processes 10"},
        {"hilbench run quick --fresh -o 'my results'", "hilbench run quick -o 'my results' --processes 10"},
        {"hilbench run --processes 2 quick --append-process", "hilbench run quick --processes 10"},
        {"hilbench run quick --processes=2 --filter 'a --fresh'",
         "hilbench run quick --filter 'a --fresh' --processes 10"}})
    EXPECT_EQ(run.next(typed, 1)->command, next);
  EXPECT_FALSE(run.next("hilbench run quick", 10)) << "they are there";
  EXPECT_TRUE(run.next("hilbench run quick", 9));
}

TEST(NextRun, HasTwiceTheProcessesIfEnoughShowNothing) {
  const SmallRun run;
  const auto next = run.next("hilbench run quick --processes 10", 10, true);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->command, "hilbench run quick --processes 20");
  EXPECT_LT(next->seconds, run.next("hilbench run quick", 0)->seconds)
      << "20 processes share the budget of 10";
  EXPECT_EQ(run.next("hilbench run quick", 1, true)->command, "hilbench run quick --processes 10");
}

TEST(NextRun, CostsWhatItsProcessesTake) {
  const SmallRun run("measure: {budget_s: 40, min_rounds: 3}\n");
  double process_s = 0;  // processes share the budget
  for (const Comparison& comparison : run.plan.comparisons) {
    Measure measure = run.sweep.measure;
    measure.processes = 10;
    process_s += expected_time(measure, 0, comparison).total_s();
  }
  EXPECT_GT(process_s, 8) << "four seconds of timing for each of two cases";
  EXPECT_NEAR(run.next("hilbench run quick", 1)->seconds, 9 * process_s, 1e-6);
  EXPECT_NEAR(run.next("hilbench run quick", 8)->seconds, 2 * process_s, 1e-6);
}

TEST(LastLines, SayWhatWasFoundWhatLimitsItAndWhatIsNext) {
  const ReportInput input = sample::input();
  const std::string text =
      last_lines(input, "results/quick", NextRun{"hilbench run quick --processes 10", 1083}, {});
  const Headline headline = headline_of(view_of(input));
  EXPECT_EQ(
      text.rfind(
          "found: " + headline.sentence + "\n       Hilbert order against linear order: 1.040 to 1.183, ", 0),
      0u)
      << text;
  EXPECT_NE(text.find("\nlimits: 1 process, where 10 show how much processes differ\n"), std::string::npos)
      << text;
  EXPECT_TRUE(
      text.ends_with("\nnext: hilbench report results/quick\n"
                     "      hilbench run quick --processes 10   (about 18 min)\n"))
      << text;
  const std::string without = last_lines(input, "results/quick", {}, {});
  EXPECT_TRUE(without.ends_with("\nnext: hilbench report results/quick\n")) << without;
}

TEST(LastLines, FitTheScreen) {
  const std::string text = last_lines(sample::input(), "results/quick", {}, {.width = 60});
  for (std::size_t at = 0, end; at < text.size(); at = end + 1) {
    end = text.find('\n', at);
    EXPECT_LE(end - at, 60u) << text;
  }
}

TEST(LastLines, FindNothingIfNothingWasMeasured) {
  ReportInput input = sample::input();
  for (Record& record : input.records) record.status = Status::skipped;
  EXPECT_EQ(last_lines(input, "results/quick", {}, {}), "next: hilbench report results/quick\n");
}

TEST(LastLines, PriceLikePeople) {
  const auto price = [](double seconds) {
    const std::string text = last_lines({}, "out", NextRun{"again", seconds}, {});
    return text.substr(text.find('('));
  };
  EXPECT_EQ(price(45.2), "(about 45 s)\n");
  EXPECT_EQ(price(130), "(about 2 min)\n");
  EXPECT_EQ(price(7500), "(about 2 h 5 min)\n");
}

}  // namespace
}  // namespace hilbench
