// What a gate can do on a machine, from pairs of processes of one and the same build.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reports/gate/decide.hpp"

namespace hilbench {

// Slowdowns ln(second / first) of pairs of processes of one build, for each case and variant.
struct EqualPairs {
  std::string case_id, variant_id;
  std::vector<double> slowdowns;
};

struct DetectionRate {
  double slowdown = 0;  // a share, added to one case at a time
  double found = 0;     // share of cases and gates in which it was slower in both rounds
};

// Rates over whole gates whose pairs are drawn, with replacement, from the measured ones (bootstrap).
struct SelfTest {
  std::size_t pairs = 0;  // the fewest that a case has
  std::size_t gates = 0;  // drawn
  double threshold = 0;
  double deviation = 0;     // median over cases of the standard deviation of a pair's slowdown
  double false_alarms = 0;  // share of whole gates of equal builds with a case called slower
  double undecided = 0;     // share of cases in them that stay undecided
  std::vector<DetectionRate> power;
  // The smallest threshold at which at most one case in ten stays undecided, and a slowdown of twice the
  // threshold is found in 95 %. None: not even 50 %.
  std::optional<double> supported;
};

// `processes`: pairs of the first look of a gate. Throws std::invalid_argument if a case has fewer than two
// pairs, or there are none.
SelfTest self_test(std::span<const EqualPairs> cases, double threshold, std::size_t processes,
                   std::size_t gates, std::uint64_t seed);

// The verdict of a whole gate on one case whose pairs `draw` gives: the looks that every
// case gets, and a second round to confirm.
template <class Draw>
GateVerdict judge_drawn(const Draw& draw, std::size_t processes, const GateRule& rule) {
  const auto round = [&] {
    std::vector<double> values;
    GateVerdict verdict = GateVerdict::undecided;
    for (std::size_t look = 0; look < kSureLooks && verdict == GateVerdict::undecided; ++look) {
      while (values.size() < pairs_at(look, processes)) values.push_back(draw());
      verdict = decide(mean_of(values), rule.at(look));
    }
    return verdict;
  };
  const GateVerdict first = round();
  if (first != GateVerdict::slower) return first;
  return round() == GateVerdict::slower ? GateVerdict::slower : GateVerdict::undecided;
}

std::string self_test_text(const SelfTest& test);
// A line for each pair: case, variant, slowdown as a share.
std::string equal_pairs_csv(std::span<const EqualPairs> cases);

}  // namespace hilbench
