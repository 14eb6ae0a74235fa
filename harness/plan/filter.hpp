// What the options of `run` and `plan` leave of a plan.
#pragma once

#include <optional>
#include <regex>
#include <string>

#include "harness/plan/plan.hpp"

namespace hilbench {

// The regular expression of --filter, of bounded length and bounded time. UsageError where it is none.
std::regex parse_filter(const std::string& filter);

// The variants whose CASE/VARIANT the regular expression `filter` finds, what is measured in their place, and
// the reference beside them for the ratios; all where it is empty. UsageError where it finds none or is no
// expression.
Plan filtered(Plan plan, const std::string& filter);

// Skips every variant of the cases in which one execution of the reference takes longer than `limit_s`.
Plan limited(Plan plan, const std::optional<double>& limit_s);

}  // namespace hilbench
