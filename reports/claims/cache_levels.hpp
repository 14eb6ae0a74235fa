// Which hardware counters answer a claim about caches, and what two orders count there.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/claims/claims.hpp"
#include "reports/view/pairing.hpp"

namespace hilbench {

// A level of the caches, and the counters that tell its misses: a counter of their own, or reads and their
// hit rate. `reads` are names of which the first that a record holds is taken.
struct MissLevel {
  std::string_view name;
  DeviceKind device;
  std::array<std::string_view, 2> reads;
  std::string_view misses;    // empty: reads x (1 - hit_rate)
  std::string_view hit_rate;  // empty where `misses` is not
  double spread;              // share by which repeated counts of one variant differ: they have no interval
  std::string_view why;       // what a miss of this level is, and why these counters tell it
};
// The level next to memory first. What has no counter at all is left to the layout's own count of lines.
const std::vector<MissLevel>& miss_levels();

struct LevelCount {
  double misses = 0;
  std::optional<double> reads;
  std::string counters;  // "l2_read_requests x (1 - l2_read_hit_rate)"
  std::string source;    // "cupti_range"
  int passes = 0;
};

// What linear, hilbert and random order count at one level, and what that says of a claim.
struct LevelAnswer {
  const MissLevel* level = nullptr;
  std::optional<LevelCount> standard, hilbert, control;
  std::vector<double> to_standard,
      to_control;                    // misses of hilbert / those of linear, random; one for each case
  std::optional<Measured> measured;  // README, Claims
  ClaimVerdict verdict = ClaimVerdict::not_testable;
  std::string why;  // why there is no verdict
};

// One answer for each level of the records' device. `control` may be null: then no level is judged.
std::vector<LevelAnswer> answer_levels(double claimed, const Record& standard, const Record& hilbert,
                                       const Record* control);
// The same level in several cases, as one: the interval reaches over all of them.
LevelAnswer over_cases(double claimed, const std::vector<LevelAnswer>& answers);
// The verdict of the level next to memory; `mixed` where one level bears the claim out and another does not.
ClaimVerdict combined(const std::vector<LevelAnswer>& levels);
// "L2 read misses -0.3 % against linear, +0.1 % against random: no difference shown".
std::string level_text(const LevelAnswer& answer);

}  // namespace hilbench
