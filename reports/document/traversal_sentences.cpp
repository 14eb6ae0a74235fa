// What a sweep of traversals answers: each against that of the reference.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "reports/document/first_sentences.hpp"
#include "reports/document/tally.hpp"

namespace hilbench {
namespace {

const Record* record_in(const CaseView& of_case, const std::string& id) {
  const auto found = std::find_if(of_case.records.begin(), of_case.records.end(),
                                  [&](const Record* record) { return record->variant_id == id; });
  return found == of_case.records.end() ? nullptr : *found;
}

std::string traversal_text(const Variant& variant) {
  return variant.traversal_param ? fmt::format("{}.{}", variant.traversal, *variant.traversal_param)
                                 : variant.traversal;
}

// The same variant in the traversal of the reference of its case; null if that was not measured.
const Record* base_of(const CaseView& of_case, const Record& record) {
  const Record* reference = record_in(of_case, record.reference);
  if (reference == nullptr) return nullptr;
  Variant wanted = record.variant;
  wanted.traversal = reference->variant.traversal;
  wanted.traversal_param = reference->variant.traversal_param;
  return record_in(of_case, variant_id(wanted));
}

}  // namespace

bool varies_traversals(const View& view) {
  std::set<std::string> traversals, orders;
  for (const CaseView& of_case : view.cases)
    for (const Record* record : of_case.records)
      if (record->kind == ImplementationKind::kernel) {
        traversals.insert(traversal_text(record->variant));
        orders.insert(record->variant.order);
      }
  return traversals.size() > 1 && traversals.size() > orders.size();
}

std::vector<std::string> traversal_sentences(const View& view) {
  using Named = std::pair<std::string, std::string>;  // a traversal, and the one that it is against
  std::map<Named, Tally> tallies;
  for (const CaseView& of_case : view.cases)
    for (const Record* record : of_case.records) {
      if (record->kind != ImplementationKind::kernel) continue;
      const Record* base = base_of(of_case, *record);
      if (base == nullptr || base == record) continue;
      if (const auto ratio = time_ratio(*base, *record))
        tallies[{traversal_text(record->variant), traversal_text(base->variant)}].add(*ratio);
    }
  std::vector<std::pair<Named, Tally>> sorted(tallies.begin(), tallies.end());
  const auto lead = [](const Tally& tally) {
    return std::pair(
        static_cast<double>(tally.with(Verdict::faster)) - static_cast<double>(tally.with(Verdict::slower)),
        tally.high);
  };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const auto& a, const auto& b) { return lead(a.second) > lead(b.second); });
  std::vector<std::string> said;
  for (const auto& [names, tally] : sorted)
    said.push_back(
        fmt::format("Traversal {0} against {1}: {2}, and within {3} in {4} of {5} (time of {1} / time of "
                    "{0}: {6}).{7}",
                    names.first, names.second, tally.sides(), tally.within(), tally.with(Verdict::equivalent),
                    plural(tally.cases, "comparison", "comparisons"), tally.ratios(), tally.one_process()));
  return said;
}

}  // namespace hilbench
