#include "harness/plan/filter.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>
#include <vector>

#include "kernels/base/text/error.hpp"
#include "kernels/case/variant_filter.hpp"

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
