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

namespace {

struct Failures {
  std::size_t failed = 0, cases = 0;
};

bool is_of_linear_order(const Record& record) {
  return !record.variant.is_baseline() && record.variant.kernel().order == "linear";
}

bool is_wrong(const Record& record) {
  return record.status == Status::failed && record.reason.find("exceeds the tolerance") != std::string::npos;
}

// "Right in linear order and wrong in others: mine. Does it read K and V through slots?" Empty if all cases
// of no kernel are so.
std::string unread_slots_sentence(const View& view) {
  std::map<std::string, std::pair<std::size_t, std::size_t>>
      kernels;  // cases that are so, and others with faults
  for (const CaseView& of_case : view.cases) {
    std::set<std::string> right, wrong, others;
    for (const Record* record : of_case.records) {
      if (record->variant.is_baseline()) continue;
      const std::string& name = record->variant.name();
      if (is_of_linear_order(*record))
        (record->status == Status::ok ? right : others).insert(name);
      else if (is_wrong(*record))
        wrong.insert(name);
    }
    for (const std::string& name : others) ++kernels[name].second;
    for (const std::string& name : wrong)
      ++(right.contains(name) ? kernels[name].first : kernels[name].second);
  }
  std::vector<std::string> names;
  for (const auto& [name, cases] : kernels)
    if (cases.first > 0 && cases.second == 0) names.push_back(name);
  if (names.empty()) return "";
  return fmt::format(" Right in linear order and wrong in others: {}. Are K and V read through the slots?",
                     fmt::join(names, ", "));
}

}  // namespace

std::string failed_sentence(const View& view) {
  constexpr std::size_t kMostNamed = 4;
  std::map<std::string, Failures> variants;
  std::size_t all = 0;
  for (const CaseView& of_case : view.cases)
    for (const Record* record : of_case.records) {
      Failures& of_variant = variants[record->variant_id];
      ++of_variant.cases;
      of_variant.failed += record->status == Status::failed;
      all += record->status == Status::failed;
    }
  if (all == 0) return "";
  std::vector<std::string> said;
  std::size_t failed = 0;
  for (const auto& [variant, of_variant] : variants) {
    if (of_variant.failed == 0 || ++failed > kMostNamed) continue;
    said.push_back(
        fmt::format("{} in {} of {}", variant, of_variant.failed, plural(of_variant.cases, "case", "cases")));
  }
  if (failed > kMostNamed) said.push_back(plural(failed - kMostNamed, "other variant", "other variants"));
  return fmt::format("{} of {} failed: {}.{}", all, plural(view.record_count, "record", "records"),
                     fmt::join(said, ", "), unread_slots_sentence(view));
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
