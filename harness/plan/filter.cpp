#include "harness/plan/filter.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>
#include <vector>

#include "kernels/base/error.hpp"

namespace hilbench {
namespace {

// libstdc++'s executor that follows all states at once: for any expression, its time is bounded by text
// length times states.
constexpr std::regex::flag_type kRegexFlags = std::regex::ECMAScript
#ifdef __GLIBCXX__
                                              | std::regex_constants::__polynomial
#endif
    ;

// Keeps the variants that `pattern` finds, the variants that are measured in their place, and the reference
// with its twin, which ratios need. Keeps nothing if `pattern` finds no variant.
void keep_matches(Comparison& comparison, const std::regex& pattern) {
  const std::vector<PlannedVariant> variants = std::exchange(comparison.variants, {});
  const std::optional<std::size_t> reference = std::exchange(comparison.reference, std::nullopt);
  std::set<std::string> kept;
  for (const PlannedVariant& variant : variants)
    if (std::regex_search(comparison.case_id + "/" + variant.id, pattern))
      kept.insert({variant.id, variant.measured_as});
  for (std::size_t i = 0; i < variants.size(); ++i) {
    if (!kept.contains(variants[i].id) && reference != i && !variants[i].twin) continue;
    if (reference == i) comparison.reference = comparison.variants.size();
    comparison.variants.push_back(variants[i]);
  }
  if (kept.empty()) comparison.variants.clear();
}

}  // namespace

std::regex parse_filter(const std::string& filter, const std::string& option) {
  constexpr std::size_t kLongest = 1000;
  if (filter.size() > kLongest)
    throw UsageError({.what = "regular expression too long",
                      .where = option,
                      .why = fmt::format("at most {} characters", kLongest)});
  try {
    return std::regex(filter, kRegexFlags);
  } catch (const std::regex_error& error) {
    throw UsageError(
        {.what = fmt::format("bad regular expression '{}'", filter), .where = option, .why = error.what()});
  }
}

Plan filtered(Plan plan, const std::string& filter) {
  if (filter.empty()) return plan;
  const std::regex pattern = parse_filter(filter);
  Plan result;
  for (Comparison& comparison : plan.comparisons) {
    keep_matches(comparison, pattern);
    if (!comparison.variants.empty()) result.comparisons.push_back(std::move(comparison));
  }
  if (result.comparisons.empty())
    throw UsageError(
        {.what = fmt::format("'{}' matches no variant", filter),
         .where = "--filter",
         .remedy = "`hilbench plan` lists cases and variants; the text searched is CASE/VARIANT"});
  return result;
}

Plan limited(Plan plan, const std::optional<double>& limit_s) {
  if (!limit_s) return plan;
  for (Comparison& comparison : plan.comparisons) {
    if (!comparison.reference) continue;
    const std::optional<double> seconds = comparison.variants[*comparison.reference].seconds;
    if (!seconds || *seconds <= *limit_s) continue;
    for (PlannedVariant& variant : comparison.variants)
      if (!variant.skip)
        variant.skip = fmt::format(
            "one execution would take about {:.3g} s, more than --execution-limit {:g}", *seconds, *limit_s);
    comparison.reference.reset();
  }
  return plan;
}

}  // namespace hilbench
