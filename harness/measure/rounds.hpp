// How many rounds timing takes, and when it ends.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "harness/measure/timing.hpp"

namespace hilbench {

// Rounds after which the medians of all variants have intervals of the wanted width, by the scatter of the
// samples so far.
std::int64_t rounds_wanted(const std::vector<VerifiedVariant>& variants,
                           const std::vector<TimedSamples>& samples, std::optional<std::size_t> reference,
                           const Measure& measure);

// When timing ends. `measure` must outlive it.
class TimingBudget {
 public:
  explicit TimingBudget(const Measure& measure) : measure_(measure) {}
  // The warm-up is over. If rounds bend, the budget pays for it too.
  void begin_rounds();
  double spent_s() const;
  // Before round `round`, if each of those before took at most `longest_s`.
  bool spent(std::int64_t round, double longest_s) const;

 private:
  bool bends() const { return measure_.rounds_bend && !measure_.steady; }
  const Measure& measure_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace hilbench
