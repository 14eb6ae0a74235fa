#include "harness/run/runner.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/run/stop_signal.hpp"
#include "kernels/base/text/error.hpp"
#include "reports/records/store.hpp"
#include "tests/harness/run/run_sweep.hpp"

namespace hilbench {
namespace {

namespace fs = std::filesystem;

class RunnerTest : public testing::Test {
 protected:
  RunnerTest() { fs::create_directories(folder_); }
  ~RunnerTest() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  const fs::path folder_ = fs::path(testing::TempDir()) / ("runner_test_" + std::to_string(::getpid()));
};

// Nothing can run in these: no worker is started.
TEST_F(RunnerTest, RecordsSkipsAndResumes) {
  const Sweep sweep = parse(
      "axes: {sequence_length: [1024, 2048], segments: [[1024]], dtype: fp16}\n"
      "variants: [{kernel: dilated, order: [linear, hilbert]}]\n");
  const Site site = test_site();
  const Plan plan = make_plan(sweep, site);
  Progress progress(stderr, Progress::Style::silent);
  const RunOptions options{.folder = folder_ / "out", .command = "hilbench run"};
  RunSummary summary = run_plan(sweep, plan, site, options, progress);
  EXPECT_EQ(summary.skipped, 4);
  EXPECT_EQ(summary.resumed, 0);
  {
    const Store store = Store::open_for_reading(options.folder);
    const std::vector<Record> records = store.records();
    ASSERT_EQ(records.size(), 4u);
    EXPECT_EQ(records[3].status, Status::skipped);
    EXPECT_NE(records[3].reason.find("fp16"), std::string::npos);
    EXPECT_TRUE(records[3].environment->contains("host"));
    EXPECT_EQ(store.meta().at("command"), "hilbench run");
  }
  summary = run_plan(sweep, plan, site, options, progress);
  EXPECT_EQ(summary.skipped, 4) << "resumed ones count too";
  EXPECT_EQ(summary.resumed, 2);
}

// A build, a processor or a product of bf16 that is not that of the results is refused, unless the user
// insists.
TEST_F(RunnerTest, ResultsOfAnotherMakerAreNotResumed) {
  const Sweep sweep = parse(
      "axes: {sequence_length: 1024, segments: [[1024]], dtype: fp16}\n"
      "variants: [{kernel: dilated, order: [linear, hilbert]}]\n");
  Site site = test_site();
  const Plan plan = make_plan(sweep, site);
  Progress progress(stderr, Progress::Style::silent);
  RunOptions options{.folder = folder_ / "out"};
  run_plan(sweep, plan, site, options, progress);
  const auto refusal = [&] {
    try {
      run_plan(sweep, plan, site, options, progress);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const auto set_maker = [&](const std::string& maker) {
    Store::open_for_writing(options.folder).set_meta("maker", maker);
  };
  const std::string mine = Store::open_for_reading(options.folder).meta().at("maker");
  EXPECT_EQ(refusal(), "");
  site.host.cpu = "Another Processor";
  EXPECT_NE(refusal().find("on another processor"), std::string::npos);
  options.start = Start::mix_builds;
  EXPECT_EQ(refusal(), "");
  EXPECT_EQ(Store::open_for_reading(options.folder).meta().at("maker"), mine) << "that of the first results";
  options.start = Start::resume;
  site = test_site();
  nlohmann::json maker = nlohmann::json::parse(mine);
  maker["build"]["hash"] = "0";
  set_maker(maker.dump());
  EXPECT_NE(refusal().find("but the programs differ"), std::string::npos) << refusal();
  maker["build"]["name"] = "hilbench 0.0.1";
  set_maker(maker.dump());
  EXPECT_NE(refusal().find("by another build"), std::string::npos) << refusal();
  maker = nlohmann::json::parse(mine);
  maker["instructions"] = {{"name", "SCALAR"}};
  set_maker(maker.dump());
  EXPECT_NE(refusal().find("with other instructions (HILBENCH_BF16)"), std::string::npos) << refusal();
  for (const char* damaged : {"3", "{", "{}", "[]", R"({"build": 3})", R"({"build": {"name": 3}})"}) {
    set_maker(damaged);
    EXPECT_NE(refusal(), "") << damaged;
  }
}

TEST_F(RunnerTest, AFilterFindsItsVariantsDone) {
  const Sweep sweep = parse(
      "axes: {sequence_length: 1024, segments: [[1024]], dtype: fp16}\n"
      "variants: [{kernel: dilated, order: [linear, hilbert]}]\n");
  const Site site = test_site();
  Progress progress(stderr, Progress::Style::silent);
  const RunOptions options{.folder = folder_ / "out"};
  const RunSummary whole = run_plan(sweep, make_plan(sweep, site), site, options, progress);
  ASSERT_EQ(whole.reasons.at(Status::skipped).size(), 1u);
  EXPECT_EQ(whole.reasons.at(Status::skipped).begin()->second, 2);
  Plan part = make_plan(sweep, site);
  part.comparisons[0].variants.pop_back();
  const RunSummary again = run_plan(sweep, part, site, options, progress);
  EXPECT_EQ(again.resumed, 1);
  EXPECT_EQ(again.skipped, 1) << "what the filter leaves out does not count";
  EXPECT_EQ(Store::open_for_reading(options.folder).records().size(), 2u) << "and stays";
  const RunOptions other{.folder = folder_ / "part"};
  run_plan(sweep, part, site, other, progress);
  try {
    run_plan(sweep, make_plan(sweep, site), site, other, progress);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("without some of the variants"), std::string::npos)
        << error.what();
  }
}

TEST_F(RunnerTest, RefusesAComparisonMeasuredOtherwiseUnlessFresh) {
  Sweep sweep = parse(
      "axes: {sequence_length: 1024, segments: [[1024]], dtype: fp16}\n"
      "variants: [{kernel: dilated, order: [linear, hilbert]}]\n");
  const Site site = test_site();
  Progress progress(stderr, Progress::Style::silent);
  RunOptions options{.folder = folder_ / "out"};
  run_plan(sweep, make_plan(sweep, site), site, options, progress);
  sweep.measure.seed = 9;
  EXPECT_THROW(run_plan(sweep, make_plan(sweep, site), site, options, progress), UsageError);
  EXPECT_EQ(Store::open_for_reading(options.folder).records().size(), 2u);
  options.start = Start::fresh;
  EXPECT_EQ(run_plan(sweep, make_plan(sweep, site), site, options, progress).resumed, 0);
}

// Stands for the workers: every variant is `ok` after one round, but `failing` fails.
class FakeWorkers {
 public:
  TaskRunner runner() {
    return [this](const ComparisonTask& task, const std::function<void(const TaskEvent&)>&) {
      cases.push_back(task.records.front().case_id);
      seeds.push_back(task.measure.seed);
      TaskResult result{.settled = task.records};
      for (Record& record : result.settled) {
        record.verify = Verification{.before = {.rows = 1}};
        record.time.emplace();
        record.time->samples_ns = {1e6, 2e6 + static_cast<double>(cases.size()), 4e6};
        record.time->process_rounds = {3};
        if (record.variant_id == timeless) record.time->samples_ns[1] = 0;
        if (record.variant_id != failing) continue;
        record.status = Status::failed;
        record.reason = "wrong";
        record.time.reset();
      }
      return result;
    };
  }
  std::string failing;
  std::string timeless;  // a sample of it is 0
  std::vector<std::string> cases;
  std::vector<std::uint64_t> seeds;
};

class RunnerWithWorkers : public RunnerTest {
 protected:
  RunSummary run() {
    return run_plan(sweep_, make_plan(sweep_, site_), site_, options_, progress_, workers_.runner());
  }
  std::vector<std::int64_t> rounds() const {
    std::vector<std::int64_t> rounds;
    for (const Record& record : Store::open_for_reading(options_.folder).records())
      rounds.push_back(record.time ? std::ssize(record.time->process_rounds) : 0);
    return rounds;
  }
  Sweep sweep_ = parse(
      "axes: {sequence_length: [1024, 2048], segments: [[1024]], device: cpu}\n"
      "variants: [{kernel: dilated, order: [linear, hilbert]}]\n"
      "measure: {processes: 3}\n");
  Site site_ = test_site();
  Progress progress_{stderr, Progress::Style::silent};
  RunOptions options_{.folder = folder_ / "out"};
  FakeWorkers workers_;
};

TEST_F(RunnerWithWorkers, ProcessesAreInterleavedOverComparisonsAndAppended) {
  const RunSummary first = run();
  EXPECT_EQ(first.ok, 4) << "twins do not count";
  EXPECT_EQ(first.processes, 3);
  ASSERT_EQ(workers_.cases.size(), 6u);
  EXPECT_NE(workers_.cases[0], workers_.cases[1]);
  EXPECT_EQ(workers_.cases[0], workers_.cases[2]);
  EXPECT_EQ(std::set(workers_.seeds.begin(), workers_.seeds.end()).size(), 3u);
  EXPECT_EQ(rounds(), (std::vector<std::int64_t>(6, 3))) << "two variants and a twin in each case";
  EXPECT_EQ(run().resumed, 2);
  sweep_.measure.processes = 4;
  EXPECT_EQ(run().resumed, 0);
  EXPECT_EQ(rounds(), (std::vector<std::int64_t>(6, 4)));
  options_.processes = Processes::one_more;
  EXPECT_EQ(run().processes, 5);
  EXPECT_EQ(rounds(), (std::vector<std::int64_t>(6, 5)));
  EXPECT_EQ(std::set(workers_.seeds.begin(), workers_.seeds.end()).size(), 5u);
  options_.processes = Processes::one;
  EXPECT_EQ(run().resumed, 2) << "the first process is there";
}

TEST_F(RunnerWithWorkers, ARecordThatContradictsItselfCostsItselfAlone) {
  workers_.timeless = "dilated/hilbert";
  const RunSummary summary = run();
  EXPECT_EQ(summary.ok, 2);
  EXPECT_EQ(summary.failed, 2);
  for (const Record& record : Store::open_for_reading(options_.folder).records())
    EXPECT_EQ(record.status, record.variant_id == workers_.timeless ? Status::failed : Status::ok)
        << record.reason;
  EXPECT_EQ(rounds(), (std::vector<std::int64_t>{3, 0, 3, 3, 0, 3}));
}

TEST_F(RunnerWithWorkers, AKilledRunKeepsItsPartialComparisons) {
  const std::function<void(const Comparison&)> after_three = [&](const Comparison&) {
    if (workers_.cases.size() == 3) throw Interrupted{};
  };
  EXPECT_THROW(
      run_plan(sweep_, make_plan(sweep_, site_), site_, options_, progress_, workers_.runner(), after_three),
      Interrupted);
  EXPECT_EQ(rounds(), (std::vector<std::int64_t>{2, 2, 2, 1, 1, 1}));
  run();
  EXPECT_EQ(workers_.cases.size(), 6u);
  EXPECT_EQ(rounds(), (std::vector<std::int64_t>(6, 3)));
}

TEST_F(RunnerWithWorkers, FailedVariantsAreTriedAgainOnceOrAlways) {
  sweep_.measure.processes = 1;
  workers_.failing = "dilated/hilbert";
  EXPECT_EQ(run().failed, 2);
  EXPECT_EQ(run().failed, 2) << "measured again";
  EXPECT_EQ(workers_.cases.size(), 4u);
  EXPECT_EQ(run().resumed, 2) << "once only";
  options_.retry = Retry::always;
  workers_.failing.clear();
  EXPECT_EQ(run().ok, 4);
  EXPECT_EQ(run().resumed, 2);
}

// A commit replaces all records of a comparison.
TEST_F(RunnerWithWorkers, NothingIsTriedAgainThatWouldLoseOtherVariants) {
  workers_.failing = "dilated/hilbert";
  run();
  sweep_.variants.pop_back();
  EXPECT_EQ(run().resumed, 2) << "a variant that this run leaves out had failed";
  EXPECT_EQ(rounds(), (std::vector<std::int64_t>{3, 0, 3, 3, 0, 3}));
  options_.retry = Retry::always;
  EXPECT_THROW(run(), UsageError);
  EXPECT_EQ(rounds(), (std::vector<std::int64_t>{3, 0, 3, 3, 0, 3}));
}

TEST_F(RunnerWithWorkers, TryingAgainNeedsTheSameSettings) {
  workers_.failing = "dilated/hilbert";
  run();
  sweep_.measure.seed = 9;
  for (const Retry retry : {Retry::once, Retry::always}) {
    options_.retry = retry;
    EXPECT_THROW(run(), UsageError);
  }
}

TEST_F(RunnerWithWorkers, TryingAgainKeepsTheNumberOfProcesses) {
  workers_.failing = "dilated/hilbert";
  run();
  sweep_.measure.processes = 1;
  for (const Processes processes : {Processes::one, Processes::one_more}) {
    options_.processes = processes;
    run();
    EXPECT_GE(rounds()[0], 3);
  }
  const auto kept = rounds();
  options_.retry = Retry::always;
  for (const Processes processes : {Processes::one, Processes::one_more}) {
    options_.processes = processes;
    EXPECT_THROW(run(), UsageError);
    EXPECT_EQ(rounds(), kept);
  }
  options_.retry = Retry::once;
  const std::int64_t before = rounds()[0];
  workers_.failing.clear();
  options_.processes = Processes::of_sweep;
  run();
  EXPECT_EQ(rounds(), (std::vector<std::int64_t>(6, before))) << "now all is right";
}

TEST_F(RunnerWithWorkers, TryingAgainThatIsStoppedReplacesNothing) {
  workers_.failing = "dilated/hilbert";
  run();
  const auto kept = rounds();
  workers_.failing.clear();
  options_.retry = Retry::always;
  const std::size_t before = workers_.cases.size();
  const std::function<void(const Comparison&)> after_four = [&](const Comparison&) {
    if (workers_.cases.size() == before + 4) throw Interrupted{};
  };
  EXPECT_THROW(
      run_plan(sweep_, make_plan(sweep_, site_), site_, options_, progress_, workers_.runner(), after_four),
      Interrupted);
  EXPECT_EQ(rounds(), kept) << "two of three processes of each";
  EXPECT_EQ(run().ok, 4);
  EXPECT_EQ(rounds(), (std::vector<std::int64_t>(6, 3)));
}

TEST_F(RunnerWithWorkers, ClaimsThatASweepNamesLaterAreKept) {
  run();
  sweep_.claims = {"seeds"};
  EXPECT_EQ(run().resumed, 2);
  EXPECT_EQ(Store::open_for_reading(options_.folder).meta().at("claims"), "seeds");
}

TEST_F(RunnerWithWorkers, AFurtherProcessMeasuresTheSameVariants) {
  sweep_.measure.processes = 1;
  run();
  sweep_.variants.pop_back();
  EXPECT_EQ(run().resumed, 2);
  options_.processes = Processes::one_more;
  EXPECT_THROW(run(), UsageError);
}

}  // namespace
}  // namespace hilbench
