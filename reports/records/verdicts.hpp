// Verdicts on effects. The margin is a share: 0.01 is 1 %, and effects within ln(1 +- 0.01) have no name.
#pragma once

#include <span>
#include <vector>

#include "reports/records/effect.hpp"

namespace hilbench {

// Probability of a false `faster`, and of a false `slower`, in a whole family of effects. One effect alone is
// `faster` only if its 95 % interval lies above the margin.
inline constexpr double kFalseVerdicts = 0.025;

// Adjusted p-values of a family (Holm 1979): an effect whose adjusted value is at most a level is found with
// at most that probability of any false finding in the family. In the order given.
std::vector<double> holm(std::span<const double> p_values);

// - faster, slower: the effect lies beyond the margin, by one-sided tests with Student's t at kFalseVerdicts;
//   within one process its 95 % interval must lie beyond the margin too
// - equivalent: the 90 % interval lies inside the margin; never within one process
// - inconclusive: otherwise
Verdict verdict_of(const Effect& effect, double margin);  // of one effect by itself
// Of a family: `faster` and `slower` by the p-values that holm() adjusts. `margins`: one for each effect.
std::vector<Verdict> verdicts_of(std::span<const Effect> family, std::span<const double> margins);
// Of a ratio that is known without error, such as one of bytes.
Verdict verdict_of_exact(double ratio, double margin);

}  // namespace hilbench
