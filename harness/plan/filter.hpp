// Options of `run` and `plan` that leave parts of a plan out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/plan/plan.hpp"

namespace hilbench {

// Keeps the variants whose CASE/VARIANT the regular expression `filter` finds, the variants that are measured
// in their place, and the reference, which ratios need. Keeps all if `filter` is empty. Throws UsageError if
// it finds nothing or is not a regular expression.
Plan filtered(Plan plan, const std::string& filter);

// One part of several: of the cases every `of`-th, from the `part`-th on, counted from 1.
struct PlanPart {
  std::int64_t part = 1, of = 1;
};
// "2/4". Throws UsageError.
PlanPart parse_part(const std::string& text);
// Throws UsageError if no case is left.
Plan parted(Plan plan, const PlanPart& part);

// Skips all variants of a case if one execution of its reference is estimated to take longer than `limit_s`.
Plan limited(Plan plan, const std::optional<double>& limit_s);

}  // namespace hilbench
