// What a sweep of traversals answers: each against that of the reference.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "reports/findings/headline.hpp"
#include "reports/findings/sentences.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

const Record* record_in(const CaseView& of_case, const std::string& id) {
  const auto found = std::find_if(of_case.records.begin(), of_case.records.end(),
                                  [&](const Record* record) { return record->variant_id == id; });
  return found == of_case.records.end() ? nullptr : *found;
}

std::string traversal_text(const KernelChoice& kernel) {
  return kernel.traversal_param ? fmt::format("{}.{}", kernel.traversal, *kernel.traversal_param)
                                : kernel.traversal;
}

// The same variant in the traversal of the reference of its case; null if that was not measured.
const Record* base_of(const CaseView& of_case, const Record& record) {
  const Record* reference = record_in(of_case, record.reference);
  if (reference == nullptr) return nullptr;
  Variant wanted = record.variant;
  wanted.change().traversal = reference->variant.kernel().traversal;
  wanted.change().traversal_param = reference->variant.kernel().traversal_param;
  return record_in(of_case, variant_id(wanted));
}

// "dilated_wgmma/hilbert": the kernel that ran and its order with all options. Each case has it once.
std::string kernel_and_order(const Record& record) {
  Variant variant = record.variant;
  variant.change().traversal = KernelChoice{}.traversal;
  variant.change().traversal_param.reset();
  return record.kernel + variant_id(variant).substr(variant.name().size());
}

struct Compared {
  std::string kernel_and_order, traversal, base;
  auto operator<=>(const Compared&) const = default;
};

// Kernels differ in traversal, the sequence of the tiles, more than in order.
bool varies_traversals(const View& view) {
  std::set<std::string> traversals, orders;
  for (const CaseView& of_case : view.cases)
    for (const Record* record : of_case.records)
      if (record->kind == ImplementationKind::kernel) {
        traversals.insert(traversal_text(record->variant.kernel()));
        orders.insert(record->variant.kernel().order);
      }
  return traversals.size() > 1 && traversals.size() > orders.size();
}

// The traversal that gains most first.
std::vector<std::pair<Compared, Tally>> compared_traversals(const View& view) {
  if (!varies_traversals(view)) return {};
  std::map<Compared, Tally> tallies;
  for (const CaseView& of_case : view.cases)
    for (const Record* record : of_case.records) {
      if (record->kind != ImplementationKind::kernel) continue;
      const Record* base = base_of(of_case, *record);
      if (base == nullptr || base == record) continue;
      if (const auto ratio = time_ratio(*base, *record))
        tallies[{kernel_and_order(*record), traversal_text(record->variant.kernel()),
                 traversal_text(base->variant.kernel())}]
            .add(*ratio);
    }
  std::vector<std::pair<Compared, Tally>> sorted(tallies.begin(), tallies.end());
  const auto lead = [](const Tally& tally) {
    return std::pair(
        static_cast<double>(tally.with(Verdict::faster)) - static_cast<double>(tally.with(Verdict::slower)),
        tally.high);
  };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const auto& a, const auto& b) { return lead(a.second) > lead(b.second); });
  return sorted;
}

}  // namespace

std::vector<Outcome> traversal_outcomes(const View& view) {
  std::vector<Outcome> outcomes;
  for (const auto& [compared, tally] : compared_traversals(view))
    outcomes.push_back(
        {.what = fmt::format("{}, traversal {},", compared.kernel_and_order, compared.traversal),
         .against = compared.base,
         .tally = tally});
  return outcomes;
}

std::vector<std::string> traversal_sentences(const View& view) {
  std::vector<std::string> said;
  for (const auto& [compared, tally] : compared_traversals(view))
    said.push_back(tally.with_one_process(fmt::format(
        "{0}, traversal {1} against {2}: {3}, and within {4} in {5} of {6} (time of {2} / time "
        "of {1}: {7}).",
        compared.kernel_and_order, compared.traversal, compared.base, tally.sides(), tally.within(),
        tally.with(Verdict::equivalent), plural(tally.cases, "case", "cases"), tally.ratios())));
  return said;
}

}  // namespace hilbench
