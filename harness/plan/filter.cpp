#include "harness/plan/filter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/base/text/error.hpp"
#include "kernels/base/text/integer.hpp"
#include "kernels/base/text/text.hpp"
#include "kernels/case/variant_filter.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

// Keeps the variants that `filter` finds, the variants that are measured in their place, and the reference
// with its twin, which ratios need. Keeps nothing if `filter` finds no variant.
void keep_matches(Comparison& comparison, const VariantFilter& filter) {
  const std::vector<PlannedVariant> variants = std::exchange(comparison.variants, {});
  const std::optional<std::size_t> reference = std::exchange(comparison.reference, std::nullopt);
  std::set<std::string> kept;
  for (const PlannedVariant& variant : variants)
    if (filter.finds(comparison.case_id, variant.variant_id))
      kept.insert({variant.variant_id, variant.measured_as});
  for (std::size_t i = 0; i < variants.size(); ++i) {
    if (!kept.contains(variants[i].variant_id) && reference != i && !variants[i].twin) continue;
    if (reference == i) comparison.reference = comparison.variants.size();
    comparison.variants.push_back(variants[i]);
  }
  if (kept.empty()) comparison.variants.clear();
}

}  // namespace

Plan filtered(Plan plan, const std::string& filter) {
  if (filter.empty()) return plan;
  const VariantFilter finder(filter);
  Plan result;
  for (Comparison& comparison : plan.comparisons) {
    keep_matches(comparison, finder);
    if (!comparison.variants.empty()) result.comparisons.push_back(std::move(comparison));
  }
  if (result.comparisons.empty())
    throw UsageError(
        {.what = fmt::format("'{}' matches no variant", filter),
         .where = "--filter",
         .remedy = "`hilbench plan` lists cases and variants; the text searched is CASE/VARIANT"});
  return result;
}

PlanPart parse_part(const std::string& text) {
  const std::size_t slash = std::min(text.find('/'), text.size());
  const std::optional<std::int64_t> part = integer_of(std::string_view(text).substr(0, slash));
  const std::optional<std::int64_t> of =
      slash == text.size() ? std::nullopt : integer_of(std::string_view(text).substr(slash + 1));
  if (!part || !of || *part < 1 || *of < *part)
    throw UsageError({.what = fmt::format("'{}' names no part", one_line(text, 40)),
                      .where = "--part",
                      .remedy = "write 1/4, 2/4, 3/4 or 4/4 for four parts"});
  return {.part = *part, .of = *of};
}

Plan parted(Plan plan, const PlanPart& part) {
  const auto count = std::ssize(plan.comparisons);
  if (part.part > count)
    throw UsageError({.what = fmt::format("part {} of {} holds no case", part.part, part.of),
                      .where = "--part",
                      .why = "the plan has " + plural(static_cast<std::size_t>(count), "case", "cases"),
                      .remedy = "make fewer parts"});
  Plan result;
  for (std::int64_t at = part.part - 1; at < count; at += part.of)
    result.comparisons.push_back(std::move(plan.comparisons[static_cast<std::size_t>(at)]));
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
