#include "reports/document/first_sentences.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "reports/view/format.hpp"

namespace hilbench {
std::string claims_sentence(const std::vector<ClaimAnswer>& answers) {
  std::set<const ClaimRow*> claims, tested;
  for (const ClaimAnswer& answer : answers) {
    claims.insert(answer.claim);
    if (answer.verdict != ClaimVerdict::not_testable && !answer.other_dtype) tested.insert(answer.claim);
  }
  if (tested.empty())
    return fmt::format("These records test none of the {} of the seed reports.",
                       plural(claims.size(), "claim", "claims"));
  return fmt::format(
      "These records test {} of the {} of the seed reports. Verdicts on all claims, one for each case and "
      "quantity:",
      tested.size(), plural(claims.size(), "claim", "claims"));
}

std::string status_sentence(const View& view) {
  if (view.record_count == 0) return "The store holds no records: nothing has been measured yet.";
  std::vector<std::string> parts;
  for (const auto& [status, count] : view.status_counts)
    parts.push_back(fmt::format("{} {}", count, to_string(status)));
  return fmt::format("{} of {}: {}.", plural(view.record_count, "record", "records"),
                     plural(view.cases.size(), "case", "cases"), fmt::join(parts, ", "));
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

std::vector<Tile> claim_tiles(const std::vector<ClaimAnswer>& answers) {
  // Answers in another dtype than the claim's stand apart, in the tables.
  const auto count = [&](auto counts) {
    return static_cast<std::size_t>(std::count_if(
        answers.begin(), answers.end(), [&](const ClaimAnswer& a) { return !a.other_dtype && counts(a); }));
  };
  const auto with = [&](ClaimVerdict verdict) {
    return count([verdict](const ClaimAnswer& a) { return a.verdict == verdict; });
  };
  const std::size_t untestable = with(ClaimVerdict::not_testable);
  if (untestable == count([](const ClaimAnswer&) { return true; })) return {};
  const std::size_t reproduced = with(ClaimVerdict::reproduced);
  const std::size_t gains =
      count([](const ClaimAnswer& a) { return a.verdict == ClaimVerdict::reproduced && is_about_a_gain(a); });
  std::vector<Tile> tiles;
  const auto add = [&](std::size_t value, std::string label, Tone tone) {
    tiles.push_back({std::to_string(value), std::move(label), value > 0 ? tone : Tone::muted});
  };
  add(gains, "gains reproduced", Tone::good);
  add(reproduced - gains, "claims of a loss or of no difference reproduced", Tone::neutral);
  for (const auto& [verdict, tone] : {std::pair{ClaimVerdict::smaller_than_claimed, Tone::neutral},
                                      {ClaimVerdict::no_gain, Tone::neutral},
                                      {ClaimVerdict::excluded, Tone::excluded},
                                      {ClaimVerdict::contradicted, Tone::bad},
                                      {ClaimVerdict::inconclusive, Tone::muted},
                                      {ClaimVerdict::not_testable, Tone::muted}})
    add(with(verdict), std::string(to_string(verdict)), tone);
  return tiles;
}

}  // namespace hilbench
