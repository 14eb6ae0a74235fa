// What dropout and saved inputs cost.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reports/findings/headline.hpp"
#include "reports/tables/training.hpp"
#include "reports/view/format.hpp"
#include "reports/view/pairing.hpp"

namespace hilbench {
namespace {

// The same variant with the statistics of the forward pass saved; null if it saves them, or was not measured.
const Record* with_saved_statistics(const CaseView& of_case, const Record& record) {
  Variant wanted = record.variant;
  wanted.change().saved = KernelChoice{}.saved;
  const std::string id = variant_id(wanted);
  if (id == record.variant_id) return nullptr;
  const auto found = std::ranges::find(of_case.records, id, &Record::variant_id);
  return found == of_case.records.end() ? nullptr : *found;
}

struct Costs {
  Tally dropout, inputs;
  double held = 1;  // with saved inputs / with saved statistics, at most
};

}  // namespace

std::vector<Outcome> training_outcomes(const View& view) {
  std::map<std::string, Costs> costs;  // by kernel
  for (const CaseView& of_case : view.cases)
    for (const Record* record : of_case.records) {
      if (record->kind != ImplementationKind::kernel || !record->held_bytes) continue;
      Costs& of_kernel = costs[record->kernel];
      if (const Record* without = without_dropout(view, *record))
        if (const auto ratio = unpaired_time_ratio(*without, *record)) of_kernel.dropout.add(*ratio);
      const Record* statistics = with_saved_statistics(of_case, *record);
      if (statistics == nullptr || !statistics->held_bytes) continue;
      of_kernel.held = std::min(of_kernel.held, *record->held_bytes / *statistics->held_bytes);
      if (const auto ratio = time_ratio(*statistics, *record)) of_kernel.inputs.add(*ratio);
    }
  std::vector<Outcome> outcomes;
  for (const auto& [kernel, cost] : costs) {
    if (cost.dropout.cases > 0)
      outcomes.push_back({.what = kernel + " with dropout",
                          .against = "the same without",
                          .tally = cost.dropout,
                          .remark = "measured one after the other"});
    if (cost.inputs.cases > 0)
      outcomes.push_back({.what = kernel + " with saved inputs",
                          .against = "the same with saved statistics",
                          .tally = cost.inputs,
                          .remark = fmt::format("holds {:.0f} % of the memory", 100 * cost.held)});
  }
  return outcomes;
}

}  // namespace hilbench
