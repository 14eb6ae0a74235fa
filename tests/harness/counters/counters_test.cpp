
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <set>

#include "harness/counters/backends.hpp"
#include "harness/counters/counted_caches.hpp"
#include "harness/counters/counted_caches.hpp"

namespace hilbench {
namespace {

const CounterSet kSet{.name = "made_up",
                      .backend = "perf",
                      .events = {{"reads", "hardware:x", "count"}, {"misses", "hardware:y", "count"}},
                      .derived = {{.name = "hit_rate",
                                   .unit = "ratio",
                                   .numerator = {"misses"},
                                   .denominator = {"reads"},
                                   .offset = 1,
                                   .scale = -1}}};

TEST(CounterSets, HoldTheNamedSetsWithUniqueNamesAndKnownEvents) {
  ASSERT_NE(find_counter_set("default", kCpuTarget), nullptr);
  ASSERT_NE(find_counter_set("software", kCpuTarget), nullptr);
  EXPECT_EQ(find_counter_set("nonsense", kCpuTarget), nullptr);
  for (const CounterSet& set : counter_sets()) {
    std::set<std::string> names;
    for (const CounterEvent& event : set.events) {
      EXPECT_TRUE(names.insert(event.name).second) << event.name;
      EXPECT_TRUE(set.backend != "perf" || parse_perf_event(event.event)) << event.event;
    }
    for (const DerivedCounter& derived : set.derived) {
      EXPECT_FALSE(derived.numerator.empty()) << derived.name;
      for (const auto& part : {derived.numerator, derived.denominator})
        for (const std::string& name : part)
          EXPECT_TRUE(names.count(name) || name == kRingBytes) << derived.name << " " << name;
      EXPECT_FALSE(names.count(derived.name)) << derived.name;
    }
  }
}

TEST(CounterSets, DefaultMeansTheDevicesOwn) {
  EXPECT_EQ(find_counter_set("default", kCpuTarget)->backend, "perf");
  EXPECT_EQ(find_counter_set("default", 61)->backend, "cupti_events");
  for (const CounterTarget target : {75, 80, 86, 89, 90})
    EXPECT_EQ(find_counter_set("default", target)->backend, "cupti_range") << target;
  EXPECT_NE(find_counter_set("default", 80), find_counter_set("default", 90));
  EXPECT_EQ(find_counter_set("software", 90), nullptr);
  EXPECT_EQ(find_counter_set("default", 20), nullptr);
}

TEST(CounterSets, EachTargetHasAtMostOneOfAName) {
  for (const CounterSet& set : counter_sets()) {
    EXPECT_LE(set.first, set.last) << set.name;
    for (CounterTarget target = set.first; target <= set.last; ++target)
      EXPECT_EQ(find_counter_set(set.name, target), &set) << set.name << " " << target;
  }
}

TEST(CounterSets, OneThatTheDeviceLacksIsAbsentWithTheReason) {
  const auto counters = count(
      counter_set("software", 90), 1, [] { FAIL(); }, [] { FAIL(); });
  EXPECT_NE(counters.at("page_faults").reason.find("'software' for compute capability 9.0"),
            std::string::npos)
      << counters.at("page_faults").reason;
  // The names are those of a GPU, not perf's.
  EXPECT_FALSE(counter_set("default", 121).unavailable.empty());
  EXPECT_EQ(counter_set("default", 121).backend, "cupti_range");
  EXPECT_NE(counter_set("l2", kCpuTarget).unavailable.find("the CPU"), std::string::npos);
  EXPECT_NE(counter_set("default", -1).unavailable.find("no CUDA device"), std::string::npos);
  EXPECT_TRUE(counter_set("default", 90).unavailable.empty());
  EXPECT_THROW(counter_set("nonsense", 90), std::out_of_range);
}

TEST(FinishCounters, AShareAboveOneHasNoValue) {
  CounterSet set = kSet;
  set.derived = {
      {.name = "l2_hit_rate", .unit = "ratio", .numerator = {"misses"}, .denominator = {"reads"}},
      {.name = "misses_per_read", .unit = "ratio", .numerator = {"misses"}, .denominator = {"reads"}}};
  const auto of = [&](double misses) {
    return finish_counters(set, {{"reads", {.value = 10000}}, {"misses", {.value = misses}}}, "perf", 1);
  };
  const auto impossible = of(10155);
  EXPECT_FALSE(impossible.at("l2_hit_rate").value);
  EXPECT_EQ(impossible.at("l2_hit_rate").reason,
            "its counts contradict each other: they give 1.0155, a share is 0 to 1");
  EXPECT_EQ(impossible.at("misses_per_read").value, 1.0155) << "no share";
  EXPECT_EQ(impossible.at("misses").value, 10155) << "the counts stay";
  const auto near = of(10001);
  EXPECT_EQ(near.at("l2_hit_rate").value, 1);
  EXPECT_EQ(near.at("l2_hit_rate").source, "perf, rounded from 1.0001");
  EXPECT_EQ(of(9999).at("l2_hit_rate").source, "perf");
}

TEST(FinishCounters, DerivesRatios) {
  const auto counters =
      finish_counters(kSet, {{"reads", {.value = 200}}, {"misses", {.value = 50}}}, "perf", 1);
  ASSERT_EQ(counters.size(), 3u);
  EXPECT_EQ(counters.at("reads").value, 200);
  EXPECT_EQ(counters.at("hit_rate").value, 0.75);
  EXPECT_EQ(counters.at("hit_rate").unit, "ratio");
  EXPECT_EQ(counters.at("hit_rate").source, "perf");
  EXPECT_EQ(counters.at("hit_rate").passes, 1);
}

TEST(FinishCounters, AddsUpTheEventsOfARatio) {
  CounterSet set = kSet;
  set.derived = {
      {.name = "sum", .numerator = {"reads", "misses"}},
      {.name = "rate", .numerator = {"misses", "reads"}, .denominator = {"reads", "reads"}, .scale = 100}};
  const auto counters = finish_counters(set, {{"reads", {.value = 200}}, {"misses", {.value = 50}}}, "x", 2);
  EXPECT_EQ(counters.at("sum").value, 250);
  EXPECT_EQ(counters.at("rate").value, 62.5);
  const auto partly =
      finish_counters(set, {{"reads", {.value = 200}}, {"misses", {.reason = "hidden"}}}, "x", 2);
  EXPECT_FALSE(partly.at("sum").value);
  EXPECT_NE(partly.at("sum").reason.find("needs misses: hidden"), std::string::npos);
}

TEST(FinishCounters, SaysWhatIsMissingInsteadOfZero) {
  const auto counters =
      finish_counters(kSet, {{"reads", {.value = 200}}, {"misses", {.reason = "hidden"}}}, "perf", 1);
  EXPECT_FALSE(counters.at("misses").value);
  EXPECT_EQ(counters.at("misses").reason, "hidden");
  EXPECT_FALSE(counters.at("hit_rate").value);
  EXPECT_NE(counters.at("hit_rate").reason.find("hidden"), std::string::npos);
  const auto none = finish_counters(kSet, {}, "perf", 1);
  EXPECT_FALSE(none.at("reads").value);
  EXPECT_FALSE(none.at("reads").reason.empty());
}

TEST(FinishCounters, DoesNotDivideByZero) {
  const auto counters = finish_counters(kSet, {{"reads", {.value = 0}}, {"misses", {.value = 0}}}, "perf", 1);
  EXPECT_EQ(counters.at("reads").value, 0);
  EXPECT_FALSE(counters.at("hit_rate").value);
  EXPECT_EQ(counters.at("hit_rate").reason, "reads is 0");
}

TEST(OverRanks, AddUpOrTakeTheMean) {
  CounterSet set = kSet;
  set.events = {{"bytes", "a", "B"},
                {"time", "b", "ns", OverRanks::none},
                {"use", "c", "percent", OverRanks::mean},
                {"half", "d", "B"}};
  const RawCounts all = over_ranks(
      set, {{{"bytes", {.value = 1}}, {"time", {.value = 7}}, {"use", {.value = 10}}, {"half", {.value = 1}}},
            {{"bytes", {.value = 2, .scaled = true}},
             {"time", {.value = 5}},
             {"use", {.value = 40, .fake = true}},
             {"half", {.reason = "hidden"}}}});
  EXPECT_EQ(all.at("bytes").value, 3);
  EXPECT_TRUE(all.at("bytes").scaled);
  EXPECT_EQ(all.at("bytes").ranks, (std::vector<double>{1, 2}));
  EXPECT_FALSE(all.at("time").value) << "a rank's own holds the waiting for others";
  EXPECT_NE(all.at("time").reason, "");
  EXPECT_EQ(all.at("use").value, 25);
  EXPECT_FALSE(all.at("half").value);
  EXPECT_EQ(all.at("half").reason, "rank 1: hidden");
  const RawCounts hidden = {{"bytes", {.reason = "hidden"}}};
  EXPECT_EQ(over_ranks(set, {hidden, hidden}).at("bytes").reason, "hidden") << "for all alike";
  EXPECT_FALSE(all.at("use").scaled);
  EXPECT_TRUE(all.at("use").fake);
  EXPECT_FALSE(all.at("bytes").fake);
  EXPECT_EQ(finish_counters(set, all, "x", 1).at("use").ranks, (std::vector<double>{10, 40}));
  EXPECT_EQ(over_ranks(set, {}).at("bytes").reason, "no rank counted");
}

// Of the ratios of two ranks with unlike work, that of the sums is the ring's.
TEST(OverRanks, GiveTheRatioOfTheSums) {
  const RawCounts all = over_ranks(kSet, {{{"reads", {.value = 900}}, {"misses", {.value = 0}}},
                                          {{"reads", {.value = 100}}, {"misses", {.value = 100}}}});
  EXPECT_DOUBLE_EQ(*finish_counters(kSet, all, "x", 1).at("hit_rate").value, 0.9);
}

TEST(OverRanks, AreToldByTheSets) {
  for (const CounterSet& set : counter_sets())
    for (const CounterEvent& event : set.events) {
      const bool share = event.unit == "percent" || event.unit == "ratio" || event.name == "sm_active_cycles";
      const bool duration = event.name == "gpu_time" || event.name == "sm_cycles";
      EXPECT_EQ(event.ranks, share      ? OverRanks::mean
                             : duration ? OverRanks::none
                                        : OverRanks::sum)
          << set.name << " " << event.name;
    }
}

TEST(FinishCounters, StatesThatAValueWasScaled) {
  const auto counters = finish_counters(
      kSet, {{"reads", {.value = 200, .scaled = true}}, {"misses", {.value = 50}}}, "perf", 1);
  EXPECT_EQ(counters.at("reads").source, "perf, scaled");
  EXPECT_EQ(counters.at("misses").source, "perf");
  EXPECT_EQ(counters.at("hit_rate").source, "perf, scaled");
}

TEST(FinishCounters, StatesThatAValueIsFake) {
  const auto counters = finish_counters(
      kSet, {{"reads", {.value = 200, .fake = true}}, {"misses", {.value = 50, .scaled = true}}}, "x", 1);
  EXPECT_EQ(counters.at("reads").source, "x, fake");
  EXPECT_EQ(counters.at("misses").source, "x, scaled");
  EXPECT_EQ(counters.at("hit_rate").source, "x, scaled, fake");
}

TEST(PerfEvents, AreReadFromText) {
  const auto miss = parse_perf_event("hw-cache:l1d:read:miss");
  ASSERT_TRUE(miss);
  EXPECT_EQ(miss->type, 3u);
  EXPECT_EQ(miss->config, 0x10000u);
  EXPECT_FALSE(parse_perf_event(""));
  EXPECT_FALSE(parse_perf_event("hardware:nonsense"));
  EXPECT_FALSE(parse_perf_event("hw-cache:l1d:read"));
  EXPECT_TRUE(parse_perf_event("software:context_switches")->in_kernel);
}

TEST(PerfFailure, GivesReasonAndRemedy) {
  EXPECT_NE(perf_failure(ENOENT, "2").find("virtual machines"), std::string::npos);
  EXPECT_EQ(perf_failure(EOPNOTSUPP, "2"), perf_failure(ENOENT, "2"));
  EXPECT_NE(perf_failure(EACCES, "3").find("perf_event_paranoid is 3"), std::string::npos);
  EXPECT_NE(perf_failure(EPERM, "").find("sysctl"), std::string::npos);
}

TEST(OpenCounters, NeverFails) {
  CounterSet set = kSet;
  const auto wrong_events = count(
      set, 2, [] {}, [] {});
  EXPECT_NE(wrong_events.at("reads").reason.find("not a perf event"), std::string::npos);
  set.backend = "abacus";
  const auto wrong_backend = count(
      set, 2, [] {}, [] {});
  EXPECT_NE(wrong_backend.at("reads").reason.find("abacus"), std::string::npos);
}

TEST(OpenCounters, EveryEventHasAValueOrAReason) {
  for (const CounterSet& set : counter_sets())
    for (const auto& [name, counter] : count(
             set, 2, [] {}, [] {}))
      EXPECT_NE(counter.value.has_value(), !counter.reason.empty()) << set.name << " " << name;
}

// Not instrumented: a sanitizer would touch pages of its own for it.
__attribute__((no_sanitize("address"), no_sanitize("thread"), noinline)) void write_byte(
    volatile char* byte) {
  *byte = 1;
}

// Pages that nothing has touched yet, mapped before the count for the same reason.
class FreshPages {
 public:
  explicit FreshPages(std::int64_t pages) : pages_(pages) {
    memory_ = mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(memory_, MAP_FAILED);
    madvise(memory_, bytes(), MADV_NOHUGEPAGE);
  }
  FreshPages(const FreshPages&) = delete;
  FreshPages& operator=(const FreshPages&) = delete;
  ~FreshPages() { munmap(memory_, bytes()); }

  // Each page once, in a region of `threads` threads.
  void touch(int threads) {
    auto* first = static_cast<volatile char*>(memory_);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (std::int64_t i = 0; i < pages_; ++i) write_byte(first + i * page_);
  }

 private:
  std::size_t bytes() const {
    return static_cast<std::size_t>(pages_ * page_);
  }
  std::int64_t pages_;
  std::int64_t page_ = sysconf(_SC_PAGESIZE);
  void* memory_ = nullptr;
};

class SoftwareCounters : public testing::TestWithParam<int> {};

TEST_P(SoftwareCounters, CountFreshPagesAndTimeOfEveryThread) {
  const std::int64_t pages = 16384;
  FreshPages fresh(pages);
  int restored = 0;
  const auto counters = count(
      counter_set("software", kCpuTarget), GetParam(), [&] { ++restored; }, [&] { fresh.touch(GetParam()); });
  EXPECT_EQ(restored, 1);
  const Counter& faults = counters.at("page_faults");
  if (!faults.value) GTEST_SKIP() << "software events are refused here: " << faults.reason;
  EXPECT_NEAR(*faults.value, static_cast<double>(pages), 0.03 * static_cast<double>(pages));
  ASSERT_TRUE(counters.at("task_clock").value);
  EXPECT_GT(*counters.at("task_clock").value, 1e5);
  EXPECT_EQ(counters.at("task_clock").unit, "ns");
}

TEST_P(SoftwareCounters, DoNotCountOutsideOfThePass) {
  FreshPages fresh(5000);
  const auto counters = count(
      counter_set("software", kCpuTarget), GetParam(), [&] { fresh.touch(GetParam()); }, [] {});
  const Counter& faults = counters.at("page_faults");
  if (!faults.value) GTEST_SKIP() << "software events are refused here: " << faults.reason;
  EXPECT_LT(*faults.value, 100);
}

INSTANTIATE_TEST_SUITE_P(Threads, SoftwareCounters, testing::Values(1, 2));

// E: the caches are evicted, R: the variant runs.
std::string before_passes(bool cold, int passes) {
  std::string done;
  CountedCaches caches(
      cold, [&] { done += 'E'; }, [&] { done += 'R'; });
  for (int pass = 0; pass < passes; ++pass) {
    caches.restore();
    done += ' ';
  }
  return done;
}

TEST(CountedCaches, AreEvictedBeforeEachPassOrOnceAndThenWarmedUp) {
  EXPECT_EQ(before_passes(true, 3), "E E E ");
  EXPECT_EQ(before_passes(false, 3), "ER   ");
}

}  // namespace
}  // namespace hilbench
