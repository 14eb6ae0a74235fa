// Variants against the reference.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "reports/findings/headline.hpp"
#include "reports/findings/sentences.hpp"
#include "reports/view/format.hpp"

namespace hilbench {

std::vector<Outcome> variant_outcomes(const View& view) {
  std::map<std::pair<std::string, std::string>, Tally> tallies;  // by reference and variant
  for (const CaseView& of_case : view.cases)
    for (const Record* record : of_case.records) {
      const auto reference = std::find_if(
          of_case.records.begin(), of_case.records.end(),
          [&](const Record* other) { return other->variant_id == record->reference && !other->twin; });
      const bool computes = record->kind == ImplementationKind::kernel || record->verify;
      if (record->twin || !computes || reference == of_case.records.end() || *reference == record) continue;
      const auto ratio = time_ratio(**reference, *record);
      if (!ratio) continue;
      tallies[{(*reference)->variant_id, record->variant_id}].add(*ratio);
    }
  std::vector<std::pair<std::pair<std::string, std::string>, Tally>> sorted(tallies.begin(), tallies.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.high > b.second.high; });
  std::vector<Outcome> outcomes;
  for (const auto& [ids, tally] : sorted)
    outcomes.push_back({.what = ids.second, .against = ids.first, .tally = tally});
  return outcomes;
}

std::vector<std::string> variant_sentences(const View& view) {
  constexpr std::size_t kMost = 6;
  const std::vector<Outcome> outcomes = variant_outcomes(view);
  std::vector<std::string> said;
  Tally all;
  for (const Outcome& outcome : outcomes) {
    all.cases += outcome.tally.cases;
    all.in_one_process += outcome.tally.in_one_process;
    if (said.size() < kMost)
      said.push_back(outcome.tally.compared(outcome.what, outcome.against, outcome.what, outcome.against));
  }
  if (outcomes.size() > kMost)
    said.push_back(
        fmt::format("The table below has {} more.", plural(outcomes.size() - kMost, "variant", "variants")));
  if (std::string one_process = all.one_process(); !one_process.empty())
    said.push_back(std::move(one_process));
  return said;
}

}  // namespace hilbench
