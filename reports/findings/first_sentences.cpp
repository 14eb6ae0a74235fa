#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "reports/check/check.hpp"
#include "reports/findings/sentences.hpp"
#include "reports/tables/claim_cells.hpp"
#include "reports/view/format.hpp"

namespace hilbench {

std::string claims_sentence(const std::vector<ClaimAnswer>& answers) {
  std::set<const ClaimRow*> claims, tested;
  for (const ClaimAnswer& answer : answers) {
    claims.insert(answer.claim);
    if (answer.verdict != ClaimVerdict::not_testable && !answer.other_dtype) tested.insert(answer.claim);
  }
  return fmt::format("These records test {} of {} of claims.{}",
                     tested.empty() ? "none" : std::to_string(tested.size()),
                     plural(claims.size(), "figure", "figures"),
                     tested.empty() ? "" : " Verdicts on all of them, one for each case and quantity:");
}

std::string status_sentence(const View& view) {
  if (view.record_count == 0) return "The store holds no records: nothing has been measured yet.";
  std::vector<std::string> parts;
  for (const auto& [status, count] : view.status_counts)
    parts.push_back(fmt::format("{} {}", count, to_string(status)));
  return fmt::format("{} of {}: {}.", plural(view.record_count, "record", "records"),
                     plural(view.cases.size(), "case", "cases"), fmt::join(parts, ", "));
}

std::string limits_sentence(const View& view) {
  if (!view.status_counts.contains(Status::ok)) return "";
  const std::vector<std::string> limits = limits_of(*view.records);
  return limits.empty() ? "" : fmt::format("Limits: {}.", fmt::join(limits, "; "));
}

std::string steady_sentence(const View& view) {
  std::size_t steady = 0, timed = 0, without_energy = 0;
  double seconds = 0;
  std::set<std::string> reasons;
  for (const CaseView& of_case : view.cases)
    for (const Record* record : of_case.records) {
      if (!record->time) continue;
      ++timed;
      if (record->steady_s == 0) continue;
      seconds = steady++ == 0 ? record->steady_s : std::min(seconds, record->steady_s);
      if (!record->energy || record->energy->reason.empty()) continue;
      ++without_energy;
      reasons.insert(record->energy->reason);
    }
  if (steady == 0) return "";
  std::string said = fmt::format(
      "Steady: {} are of executions back to back for {:g} s or more, so clocks are those of sustained work.",
      steady == timed ? "all times" : fmt::format("{} of {} times", steady, timed), seconds);
  if (without_energy > 0)
    said += fmt::format(" The energy of {} is not known: {}.", plural(without_energy, "record", "records"),
                        fmt::join(reasons, "; "));
  return said;
}

std::string injected_sentence(const View& view, std::string_view of) {
  std::size_t injected = 0;
  for (const CaseView& of_case : view.cases)
    injected +=
        static_cast<std::size_t>(std::count_if(of_case.records.begin(), of_case.records.end(),
                                               [](const Record* record) { return record->injected > 0; }));
  if (injected == 0) return "";
  return fmt::format("{}{} {} injected work; {}.", plural(injected, "record", "records"), of,
                     injected == 1 ? "holds" : "hold",
                     injected == 1 ? "it is no result" : "they are no results");
}

std::string papers_sentence(const std::vector<ClaimAnswer>& answers) {
  std::map<ClaimVerdict, std::size_t> verdicts;
  for (const ClaimAnswer& answer : answers) ++verdicts[answer.verdict];
  if (verdicts.empty()) return "";
  std::vector<std::string> parts;
  for (const auto& [verdict, count] : verdicts) parts.push_back(counted_verdict(count, to_string(verdict)));
  return fmt::format("Claims of papers: {}.", fmt::join(parts, ", "));
}

}  // namespace hilbench
