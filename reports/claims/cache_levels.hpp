// Claims about caches by hardware counters: which counters, and what orders count at each level.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/claims/claim_records.hpp"
#include "reports/claims/claims.hpp"

namespace hilbench {

// A cache level, and the counters that give its misses: either a counter of misses, or reads and a hit rate.
// Of the names in `reads` the first that a record holds is used.
struct MissLevel {
  std::string_view name;
  DeviceKind device;
  std::array<std::string_view, 2> reads;
  std::string_view misses;    // empty: reads x (1 - hit_rate)
  std::string_view hit_rate;  // empty if there is a counter of misses
  std::string_view why;       // what a miss at this level is
};
// Of each device, the level next to memory first. If nothing was counted, claims are judged by the count of
// lines in the layout.
const std::vector<MissLevel>& miss_levels();

struct LevelCount {
  double misses = 0;         // the median of `each`
  std::vector<double> each;  // misses of every count, in the sequence counted
  std::optional<double> reads;
  std::string counters;  // "l2_read_requests x (1 - l2_read_hit_rate)"
  std::string source;    // "cupti_range"
  int passes = 0;
};

// Counts of what a claim compares and of the control at one level, and the verdict on the claim by them.
struct LevelAnswer {
  const MissLevel* level = nullptr;
  std::optional<LevelCount> against, variant, control;
  std::string control_name;                    // "dilated/linear.gathered"; empty: not counted
  std::vector<double> to_against, to_control;  // misses of the variant / of the other; one for each case
  std::optional<Measured> measured;         // misses of against / of variant; its interval is of the counts
  std::optional<Measured> against_control;  // misses of the control / of variant
  std::size_t counts = 0;                   // of the one that has fewer; the fewest of a case
  ClaimVerdict verdict = ClaimVerdict::not_testable;
  std::string why;  // why there is no verdict, or what it leaves open
};

// One answer for each level of the device of `records`, which must hold `against` and `variant`.
std::vector<LevelAnswer> answer_levels(double claimed, const ClaimRecords& records);
// The same level in several cases: the interval spans all of theirs.
LevelAnswer over_cases(double claimed, const std::vector<LevelAnswer>& answers);
// The verdict of the level next to memory. If that is `excluded`, or one level confirms the claim and another
// does not: `excluded` if every level excludes the claim, otherwise `inconclusive`.
ClaimVerdict combined(const std::vector<LevelAnswer>& levels);
// "L2 read misses -0.3 % against linear, +0.1 % against dilated/random: no gain".
std::string level_text(const LevelAnswer& answer, std::string_view against);

}  // namespace hilbench
