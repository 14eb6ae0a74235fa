// Ranks that count together. Fake counters note every call.
#include "harness/ring/counters.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <stdexcept>

#include "harness/ring/thread_team.hpp"
#include "kernels/ring/transport/threads.hpp"

namespace hilbench {
namespace {

constexpr double kTimeout_s = 20;
constexpr int kNever = -1;
constexpr int kBytes = 64;  // a rank sends this many in an execution
const CounterSet kSet{
    .name = "made_up",
    .backend = "fake",
    .events = {{"bytes", "bytes", "B"}},
    .derived = {
        {.name = "per_ring_byte", .unit = "ratio", .numerator = {"bytes"}, .denominator = {kRingBytes}}}};

// What a rank's counters do.
struct Plan {
  int passes = 1;
  bool counts = true;
  int begin_fails = kNever, end_fails = kNever;  // number of the pass
  int work_throws = kNever;                      // number of the execution
  double bytes_each = 100;                       // counted by the first rank, twice as many by the second
};

struct Moment {
  std::string what;
  int rank;
  bool operator==(const Moment&) const = default;
};

class Log {
 public:
  void note(const std::string& what, int rank) {
    const std::lock_guard lock(mutex_);
    moments_.push_back({what, rank});
  }
  const std::vector<Moment>& moments() const { return moments_; }
  std::ptrdiff_t count(const std::string& what, int rank) const {
    return std::count(moments_.begin(), moments_.end(), Moment{what, rank});
  }

 private:
  std::mutex mutex_;
  std::vector<Moment> moments_;
};

class FakeCounters : public CounterBackend {
 public:
  FakeCounters(Log& log, int rank, const Plan& plan) : log_(log), rank_(rank), plan_(plan) {}
  ~FakeCounters() override { log_.note("gone", rank_); }
  int passes() const override { return failed_ ? 0 : plan_.passes; }
  void begin(int pass) override {
    log_.note("begin", rank_);
    failed_ = failed_ || pass == plan_.begin_fails;
  }
  void end(int pass) override {
    log_.note("end", rank_);
    failed_ = failed_ || pass == plan_.end_fails;
  }
  RawCounts read() override {
    if (passes() == 0) return {{"bytes", {.reason = "the fake fails"}}};
    return {{"bytes", {.value = plan_.bytes_each * (rank_ + 1)}}};
  }

 private:
  Log& log_;
  const int rank_;
  const Plan plan_;
  bool failed_ = false;
};

// A ring of threads in which every rank sends kBytes to the next one.
class Ranks {
 public:
  explicit Ranks(const std::vector<Plan>& plans)
      : plans_(plans),
        transports_(thread_transports(static_cast<int>(plans.size()), kTimeout_s)),
        executions_(plans.size()),
        threads_(static_cast<int>(plans.size())) {
    for (int rank = 0; rank < std::ssize(plans_); ++rank) {
      RankCounters::Open open;
      if (plans_[rank].counts)
        open = [this, rank](const std::string& set) -> std::unique_ptr<CounterBackend> {
          EXPECT_EQ(set, kSet.name);
          return std::make_unique<FakeCounters>(log, rank, plans_[rank]);
        };
      counters_.push_back(std::make_unique<RankCounters>(open));
    }
  }

  std::vector<RankAnswer> ask(const RankCommand& command) {
    std::vector<RankAnswer> answers(plans_.size());
    std::vector<std::string> errors(plans_.size());
    threads_.run([&](int rank) {
      try {
        answers[rank] = obey(rank, command);
      } catch (const std::exception& error) {
        errors[rank] = error.what();
        transports_[rank]->abort(error.what());
      }
    });
    for (const std::string& error : errors)
      if (!error.empty()) throw std::runtime_error(error);
    return answers;
  }

  std::map<std::string, Counter> count() {
    return count_ring(
        kSet, false, [this](const RankCommand& command) { return ask(command); }, [this] { ++restored; });
  }

  Log log;
  int restored = 0;  // by the leader

 private:
  RankAnswer obey(int rank, const RankCommand& command) {
    RankCounters& counters = *counters_[rank];
    if (const auto* open = std::get_if<OpenCounters>(&command)) return counters.open(open->set);
    if (const auto* count = std::get_if<CountPass>(&command))
      return counters.pass(
          count->pass, *transports_[rank], [&] { log.note("restore", rank); }, [&] { work(rank); });
    return counters.close();
  }

  void work(int rank) {
    log.note("work", rank);
    if (executions_[rank]++ == plans_[rank].work_throws) throw std::runtime_error("this rank refuses");
    const int ranks = static_cast<int>(plans_.size());
    std::array<std::byte, kBytes> out{}, in{};
    const std::array<Transport::Message, 1> sends = {{{(rank + 1) % ranks, out.data(), kBytes}}};
    const std::array<Transport::Message, 1> receives = {{{(rank + ranks - 1) % ranks, in.data(), kBytes}}};
    transports_[rank]->post(sends, receives);
    transports_[rank]->wait();
  }

  const std::vector<Plan> plans_;
  std::vector<std::unique_ptr<Transport>> transports_;
  std::vector<std::unique_ptr<RankCounters>> counters_;
  std::vector<int> executions_;
  ThreadTeam threads_;
};

TEST(RingCounters, AllBeginBeforeOneWorksAndEndAfterAllHave) {
  Ranks ranks({{.passes = 2}, {.passes = 2}, {.passes = 2}});
  const auto counters = ranks.count();
  EXPECT_EQ(ranks.restored, 2);
  std::vector<std::string> groups;  // each stands for three moments in a row, one per rank
  const std::vector<Moment>& moments = ranks.log.moments();
  ASSERT_EQ(moments.size(), 2u * 4 * 3 + 3);
  for (std::size_t first = 0; first < moments.size(); first += 3) {
    groups.push_back(moments[first].what);
    for (int rank = 0; rank < 3; ++rank)
      EXPECT_EQ(
          std::count(moments.begin() + static_cast<std::ptrdiff_t>(first),
                     moments.begin() + static_cast<std::ptrdiff_t>(first) + 3, Moment{groups.back(), rank}),
          1)
          << groups.back() << " " << rank;
  }
  EXPECT_EQ(groups, (std::vector<std::string>{"restore", "begin", "work", "end", "restore", "begin", "work",
                                              "end", "gone"}));
  EXPECT_EQ(counters.at("bytes").value, 600);
  EXPECT_EQ(counters.at("bytes").ranks, (std::vector<double>{100, 200, 300}));
  EXPECT_EQ(counters.at("bytes").passes, 2);
  EXPECT_EQ(counters.at("bytes").source, "fake");
  EXPECT_EQ(counters.at("per_ring_byte").value, 600.0 / (3 * kBytes)) << "bytes of one execution";
}

TEST(RingCounters, RunTheRingAsOftenAsTheRankWithMostPasses) {
  Ranks ranks({{.passes = 1}, {.passes = 3}, {.passes = 2}});
  const auto counters = ranks.count();
  for (int rank = 0; rank < 3; ++rank) EXPECT_EQ(ranks.log.count("work", rank), 3);
  EXPECT_EQ(ranks.log.count("begin", 0), 1);
  EXPECT_EQ(ranks.log.count("begin", 1), 3);
  EXPECT_EQ(ranks.log.count("end", 2), 2);
  EXPECT_EQ(counters.at("bytes").value, 600);
  EXPECT_EQ(counters.at("bytes").passes, 3);
}

TEST(RingCounters, ARankThatAnotherOneCountsForOnlyWorks) {
  Ranks ranks({{.passes = 2}, {.counts = false}});
  const auto counters = ranks.count();
  EXPECT_EQ(ranks.log.count("work", 1), 2);
  EXPECT_EQ(ranks.log.count("begin", 1), 0);
  EXPECT_EQ(counters.at("bytes").value, 100);
  EXPECT_EQ(counters.at("bytes").ranks, std::vector<double>{100});
}

class OneCannotCount : public testing::TestWithParam<std::pair<Plan, int>> {};

TEST_P(OneCannotCount, ThenNoneDoesAndTheReasonIsTold) {
  const auto& [plan, executions] = GetParam();
  Ranks ranks({{.passes = 3}, plan, {.passes = 3}});
  const auto counters = ranks.count();
  for (int rank = 0; rank < 3; ++rank) EXPECT_EQ(ranks.log.count("work", rank), executions);
  EXPECT_FALSE(counters.at("bytes").value);
  EXPECT_EQ(counters.at("bytes").reason, "rank 1: the fake fails");
  EXPECT_EQ(counters.at("per_ring_byte").reason, "needs bytes: rank 1: the fake fails");
  // The ring can still run.
  for (const RankAnswer& answer : ranks.ask(CountPass{0})) EXPECT_EQ(answer.sent_bytes, kBytes);
}

INSTANTIATE_TEST_SUITE_P(Moments, OneCannotCount,
                         testing::Values(std::pair{Plan{.passes = 0}, 0},
                                         std::pair{Plan{.passes = 3, .begin_fails = 1}, 2},
                                         std::pair{Plan{.passes = 3, .end_fails = 0}, 1}));

TEST(RingCounters, ACountThatIsNotFiniteIsToldOfItsRank) {
  Ranks ranks({{}, {.bytes_each = std::numeric_limits<double>::infinity()}});
  const auto counters = ranks.count();
  EXPECT_FALSE(counters.at("bytes").value);
  EXPECT_EQ(counters.at("bytes").reason, "rank 1: not a finite number");
}

TEST(RingCounters, ARankThatThrowsEndsTheCountOfAll) {
  Ranks ranks({{.passes = 3}, {.passes = 3}, {.passes = 3, .work_throws = 1}});
  try {
    ranks.count();
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("this rank refuses"), std::string::npos) << error.what();
  }
  for (int rank = 0; rank < 3; ++rank) EXPECT_EQ(ranks.log.count("gone", rank), 1) << "counts no longer";
}

}  // namespace
}  // namespace hilbench
