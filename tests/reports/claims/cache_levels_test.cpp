// Claims about caches, judged by hardware counters: confirmed, contradicted, open, not counted.
#include <gtest/gtest.h>

#include "reports/claims/answers.hpp"
#include "reports/claims/claims_file.hpp"
#include "tests/reports/sample_records.hpp"

namespace hilbench {
namespace {

constexpr double kReads = 1e6;

// Five counts around `value`, up to 2 % away from it.
Counter counted(double value, const char* unit, std::size_t counts = 5) {
  Counter counter{.value = value, .unit = unit, .source = "cupti_range", .passes = 3};
  for (const double factor : {0.99, 1.0, 1.02, 0.98, 1.01})
    if (counts > 1 && counter.counts.size() < counts) counter.counts.push_back(value * factor);
  return counter;
}

// Sets the counters of a GPU record: read requests that missed in the L2, and sectors that missed in the L1.
void count(Record& record, double l2_misses, double l1_misses, std::size_t counts = 5) {
  Counter rate = counted(l2_misses / kReads, "ratio", counts);
  rate.value = 1 - *rate.value;
  for (double& each : rate.counts) each = 1 - each;
  Counter reads = counted(kReads, "count", counts);
  for (double& each : reads.counts) each = kReads;
  record.counters["l2_read_requests"] = reads;
  record.counters["l2_read_hit_rate"] = rate;
  record.counters["l2_read_sectors"] = counted(l1_misses, "sectors", counts);
}

// linear, hilbert, residue, random, @tokens, gemm and peak of one case, for which claim guide-speedup says 28
// % fewer.
std::vector<Record> comparison() {
  Case work = sample::work(8192, {{4096, 2}});
  work.device = DeviceKind::cuda;
  std::vector<Record> records;
  sample::add_comparison(records, work, 1);
  for (const int order : {0, 1, 3}) count(records[order], 50'000, 4e6);
  return records;
}
constexpr int kLinear = 0, kHilbert = 1, kRandom = 3;

struct Said {
  ClaimVerdict verdict;
  std::string why;
  std::optional<Measured> measured;
  std::vector<LevelAnswer> levels;
};

Said answer(const std::vector<Record>& records, std::string_view id = "guide-speedup") {
  static const std::vector<ClaimRow> claims = load_claims({});
  ReportInput input;
  input.records = records;
  const View view = view_of(input);
  for (const ClaimAnswer& one : answer_claims(claims, view))
    if (one.claim->claim_id == id && one.claim->quantity == Quantity::cache_lines)
      return {one.verdict, one.why, one.measured, one.levels};
  throw std::out_of_range(std::string(id));
}

bool holds(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(CacheClaims, EveryLevelSaysWhatItCountsAndWhy) {
  for (const MissLevel& level : miss_levels()) {
    EXPECT_NE(level.device, DeviceKind::automatic) << level.name;
    EXPECT_NE(level.misses.empty(), level.hit_rate.empty()) << level.name;
    EXPECT_TRUE(level.hit_rate.empty() || !level.reads.front().empty()) << level.name;
    EXPECT_FALSE(level.why.empty()) << level.name;
  }
}

TEST(CacheClaims, AreReproducedByFewerMissesOnEveryLevel) {
  std::vector<Record> records = comparison();
  count(records[kHilbert], 30'000, 2e6);
  const Said said = answer(records);
  EXPECT_EQ(said.verdict, ClaimVerdict::reproduced) << said.why;
  EXPECT_NEAR(said.measured->ratio, 50.0 / 30, 1e-6);
  EXPECT_LT(said.measured->ci.low, said.measured->ratio) << "counts of one variant differ";
  EXPECT_GT(said.measured->ci.low, 1.6);
  EXPECT_EQ(said.measured->processes, 5u);
  EXPECT_TRUE(holds(
      said.why, "claimed 28 % fewer; L2 read misses -40.0 % against linear, -40.0 % against dilated/random"))
      << said.why;
  EXPECT_TRUE(holds(said.why, "L1 read misses -50.0 %")) << said.why;
  EXPECT_TRUE(holds(said.why, "cupti_range, warm caches, one execution per pass, 3 passes")) << said.why;
  EXPECT_TRUE(holds(said.why, "64-byte lines in the layout: +0.0 %")) << said.why;
}

TEST(CacheClaims, AreContradictedByMoreMissesThanTheControlHas) {
  std::vector<Record> records = comparison();
  count(records[kHilbert], 60'000, 5e6);
  EXPECT_EQ(answer(records).verdict, ClaimVerdict::contradicted);
  count(records[kRandom], 60'000, 5e6);
  EXPECT_EQ(answer(records).verdict, ClaimVerdict::no_gain) << "random order misses as often";
  records.erase(records.begin() + kRandom);
  EXPECT_EQ(answer(records).verdict, ClaimVerdict::excluded) << "no control was counted";
}

TEST(CacheClaims, SmallerThanClaimed) {
  std::vector<Record> records = comparison();
  count(records[kHilbert], 42'000, 3.6e6);
  EXPECT_EQ(answer(records).verdict, ClaimVerdict::smaller_than_claimed);
}

TEST(CacheClaims, WithFewerThanFiveCountsAreInconclusive) {
  std::vector<Record> records = comparison();
  count(records[kHilbert], 30'000, 2e6, 1);
  Said said = answer(records);
  EXPECT_EQ(said.verdict, ClaimVerdict::inconclusive) << said.why;
  EXPECT_TRUE(holds(said.why, "-40.0 % against linear")) << "what was counted is told: " << said.why;
  EXPECT_TRUE(holds(said.why, "counted once; a verdict needs 5 counts")) << said.why;
  count(records[kHilbert], 30'000, 2e6, 4);
  said = answer(records);
  EXPECT_EQ(said.verdict, ClaimVerdict::inconclusive);
  EXPECT_TRUE(holds(said.why, "counted 4 times")) << said.why;
}

TEST(CacheClaims, WhatTheCountsDifferByIsNotSettled) {
  std::vector<Record> records = comparison();
  count(records[kHilbert], 49'500, 3.95e6);
  EXPECT_EQ(answer(records).verdict, ClaimVerdict::excluded) << answer(records).why;
}

TEST(CacheClaims, LevelsThatDisagreeAreInconclusive) {
  std::vector<Record> records = comparison();
  count(records[kHilbert], 30'000, 5e6);
  const Said said = answer(records);
  EXPECT_EQ(said.verdict, ClaimVerdict::inconclusive) << said.why;
  ASSERT_EQ(said.levels.size(), 2u);
  EXPECT_EQ(said.levels[0].verdict, ClaimVerdict::reproduced);
  EXPECT_EQ(said.levels[1].verdict, ClaimVerdict::contradicted);
}

TEST(CacheClaims, ACacheThatHoldsEverythingIsNotJudged) {
  std::vector<Record> records = comparison();
  count(records[kLinear], 300, 4e6);
  count(records[kHilbert], 50, 5e6);
  const Said said = answer(records);
  EXPECT_EQ(said.verdict, ClaimVerdict::contradicted) << "by the L1, the level that is left: " << said.why;
  EXPECT_TRUE(holds(said.why, "L2 read misses: not judged (300 misses in 1000000 reads")) << said.why;
}

TEST(CacheClaims, OneCountOfNoMissesGivesNoRatio) {
  std::vector<Record> records = comparison();
  records[kHilbert].counters["l2_read_hit_rate"].counts[2] = 1;
  EXPECT_TRUE(holds(answer(records).why, "L2 read misses: not judged (")) << answer(records).why;
}

TEST(CacheClaims, WithoutCountersTheLayoutStandsInAndSaysSo) {
  std::vector<Record> records = comparison();
  for (Record& record : records)
    for (auto& [name, counter] : record.counters)
      if (counter.source == "cupti_range") counter = {.reason = "counting needs root"};
  Said said = answer(records);
  EXPECT_EQ(said.verdict, ClaimVerdict::no_gain) << said.why;
  EXPECT_TRUE(holds(said.why, "an exact count, but not of a cache")) << said.why;
  EXPECT_TRUE(holds(said.why, "l2_read_hit_rate of dilated/linear: counting needs root")) << said.why;
  for (Record& record : records) record.counters.erase("layout_lines_64_per_tile");
  said = answer(records);
  EXPECT_EQ(said.verdict, ClaimVerdict::not_testable);
  EXPECT_TRUE(holds(said.why, "no counters: ")) << said.why;
  EXPECT_FALSE(said.measured);
}

TEST(CacheClaims, SectorsStandInWhereAChipCountsNoRequests) {
  std::vector<Record> records = comparison();
  for (Record& record : records) record.counters.erase("l2_read_requests");
  const Said said = answer(records);
  ASSERT_TRUE(said.levels[0].measured) << said.why;
  EXPECT_EQ(said.levels[0].variant->counters, "l2_read_sectors x (1 - l2_read_hit_rate)");
}

TEST(CacheClaims, ProcessorsAreJudgedByTheLastCache) {
  std::vector<Record> records = comparison();
  for (Record& record : records) record.work.device = DeviceKind::cpu;
  const auto counter = [](double value) {
    Counter made = counted(value, "count");
    made.source = "perf", made.passes = 1;
    return made;
  };
  for (const int order : {kLinear, kHilbert, kRandom}) {
    records[order].counters["llc_reads"] = counter(1e6);
    records[order].counters["llc_read_misses"] = counter(order == kHilbert ? 2e5 : 4e5);
  }
  const Said said = answer(records);
  EXPECT_EQ(said.verdict, ClaimVerdict::reproduced) << said.why;
  EXPECT_TRUE(holds(said.why, "last-level cache read misses -50.0 % against linear")) << said.why;
  EXPECT_TRUE(holds(said.why, "(perf, warm caches, one execution per pass, 1 pass)")) << said.why;
}

TEST(CacheClaims, AClaimWithoutConfigurationMustHoldInEveryCase) {
  std::vector<Record> records = comparison();
  count(records[kHilbert], 20'000, 1e6);
  std::vector<Record> longer;
  Case work = sample::work(16384, {{4096, 2}});
  work.device = DeviceKind::cuda;
  sample::add_comparison(longer, work, 1);
  for (const int order : {0, 1, 3}) count(longer[order], 50'000, 4e6);
  count(longer[kHilbert], 22'000, 1e6);
  records.insert(records.end(), longer.begin(), longer.end());
  EXPECT_EQ(answer(records, "guide-headlines").verdict, ClaimVerdict::reproduced);
  EXPECT_EQ(answer(records, "guide-headlines").levels.front().counts, 5u);
  count(records[records.size() - longer.size() + kHilbert], 51'000, 4e6);
  const Said said = answer(records, "guide-headlines");
  EXPECT_EQ(said.verdict, ClaimVerdict::inconclusive) << said.why;
  EXPECT_TRUE(holds(said.why,
                    "states no configuration: over the 2 cases here, claimed 25 to 40 % fewer; "
                    "L2 read misses -60.0 to +2.0 % against linear"))
      << said.why;
}

TEST(CacheClaims, ACaseWithTooFewCountsLeavesAllOpenWhereverItStands) {
  for (const int few : {0, 1}) {
    std::vector<Record> records;
    for (const int number : {0, 1}) {
      std::vector<Record> each;
      Case work = sample::work(number == 0 ? 8192 : 16384, {{4096, 2}});
      work.device = DeviceKind::cuda;
      sample::add_comparison(each, work, 1);
      const std::size_t counts = number == few ? 1 : 5;
      for (const int order : {kLinear, kRandom}) count(each[order], 50'000, 4e6, counts);
      count(each[kHilbert], 33'000, 2.6e6, counts);
      records.insert(records.end(), each.begin(), each.end());
    }
    const Said said = answer(records, "guide-headlines");
    EXPECT_EQ(said.verdict, ClaimVerdict::inconclusive) << few << ": " << said.why;
    EXPECT_EQ(said.levels.front().counts, 1u);
  }
}

}  // namespace
}  // namespace hilbench
