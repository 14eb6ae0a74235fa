#include "reports/document/first_sentences.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "reports/claims/claim_records.hpp"
#include "reports/tables/rings.hpp"
#include "reports/tables/rivals.hpp"
#include "reports/tables/twins.hpp"
#include "reports/tables/window_pairs.hpp"
#include "reports/tables/window_times.hpp"
#include "reports/view/format.hpp"
#include "reports/view/margins.hpp"

namespace hilbench {
namespace {

// Results against one reference over several cases.
struct Tally {
  std::map<Verdict, std::size_t> verdicts;
  std::size_t cases = 0, in_one_process = 0;
  double low = 0, high = 0;  // of the ratios
  double margin = 0;         // the largest

  void add(const Measured& ratio) {
    low = cases == 0 ? ratio.ratio : std::min(low, ratio.ratio);
    high = std::max(high, ratio.ratio);
    margin = std::max(margin, ratio.margin);
    in_one_process += ratio.processes == 1;
    ++verdicts[ratio.verdict];
    ++cases;
  }
  std::size_t with(Verdict verdict) const {
    const auto found = verdicts.find(verdict);
    return found == verdicts.end() ? 0 : found->second;
  }
  // "faster in 1, slower in 0, inconclusive in 2"
  std::string sides() const {
    return fmt::format("faster in {}, slower in {}, inconclusive in {}", with(Verdict::faster),
                       with(Verdict::slower), with(Verdict::inconclusive));
  }
  std::string ratios() const { return fmt::format("{} to {}", number_text(low), number_text(high)); }
  std::string within() const { return "+-" + margin_text(margin); }
  std::string one_process() const {
    if (in_one_process == 0) return "";
    return fmt::format(
        " {} measured by one process only, from which no equality can be shown.",
        in_one_process == cases ? std::string("All were") : fmt::format("{} of them were", in_one_process));
  }
};

// Hilbert order against random order: what the two share is no merit of the curve.
std::string control_sentence(const Tally& control, std::string_view chunk_text) {
  if (control.cases == 0)
    return fmt::format(
        "Hilbert order{} was not measured beside a random permutation, so a gain may come from any change of "
        "order, not from the curve.",
        chunk_text);
  return fmt::format(
      "Hilbert order{} is shown to be within {} of a random permutation in {} of {}; it is {} (time of the "
      "random permutation / time of Hilbert order: {}).{}",
      chunk_text, control.within(), control.with(Verdict::equivalent), plural(control.cases, "case", "cases"),
      control.sides(), control.ratios(), control.one_process());
}

std::string linear_sentence(const Tally& linear) {
  return fmt::format(
      "Against linear order, which stores rows as they come, it is {}, and within {} in {} of {} (time of "
      "linear order / "
      "time of Hilbert order: {}).",
      linear.sides(), linear.within(), linear.with(Verdict::equivalent),
      plural(linear.cases, "case", "cases"), linear.ratios());
}

// Kernel time of Hilbert order in chunks of `chunk`: first against random order, the control, then against
// linear order. Empty if no case has linear and Hilbert order.
std::string hilbert_sentence(const View& view, std::int64_t chunk, std::string_view chunk_text) {
  Tally control, linear;
  for (const CaseView& of_case : view.cases) {
    const ClaimRecords records = claim_records(of_case, chunk);
    if (!records.standard || !records.hilbert) continue;
    const auto ratio = time_ratio(*records.standard, *records.hilbert);
    if (!ratio) continue;
    linear.add(*ratio);
    if (!records.random) continue;
    if (const auto against = time_ratio(*records.random, *records.hilbert)) control.add(*against);
  }
  if (linear.cases == 0) return "";
  return control_sentence(control, chunk_text) + " " + linear_sentence(linear) +
         (control.cases == 0 ? linear.one_process() : "");
}

// Each kernel in linear order against each rival, over all cases; empty if there is no pair.
std::string rivals_sentence(const View& view) {
  std::map<std::string, std::map<std::string, Tally>> kernels;
  for (const RivalPair& pair : rival_pairs(view, kMostRivalRows))
    kernels[pair.kernel->kernel][pair.rival->variant_id].add(pair.ratio);
  std::vector<std::string> parts;
  for (const auto& [kernel, rivals] : kernels) {
    std::vector<std::string> ratios;
    for (const auto& [rival, tally] : rivals)
      ratios.push_back(
          fmt::format("{} {} to {}", rival, number_text(tally.low, 3), number_text(tally.high, 3)));
    parts.push_back(fmt::format("{}: {}", kernel, fmt::join(ratios, ", ")));
  }
  return parts.empty()
             ? ""
             : fmt::format("Time of the rival / time of the kernel (above 1, the kernel is faster): {}.",
                           fmt::join(parts, "; "));
}

// Nothing but references, and so their twins, was asked for.
bool only_references(const View& view) {
  return std::all_of(view.cases.begin(), view.cases.end(), [](const CaseView& of_case) {
    return std::all_of(of_case.records.begin(), of_case.records.end(),
                       [](const Record* record) { return record->variant_id == record->reference; });
  });
}

}  // namespace

std::vector<std::string> main_sentences(const View& view) {
  const std::int64_t claimed_chunk = ClaimRow{}.order_chunk;
  const std::string claimed = hilbert_sentence(view, claimed_chunk, "");
  const std::string whole = hilbert_sentence(view, 0, " over the whole length");
  if (!claimed.empty() && whole.empty()) return {claimed};
  if (!claimed.empty())
    return {hilbert_sentence(view, claimed_chunk, fmt::format(" in chunks of {}", claimed_chunk)), whole};
  std::vector<std::string> said;
  for (const std::string& one : {whole, windows_sentence(view), window_times_sentence(view),
                                 rivals_sentence(view), rings_sentence(view)})
    if (!one.empty()) said.push_back(one);
  if (!said.empty() || view.record_count == 0) return said;
  std::string twins = only_references(view) ? twins_sentence(view) : "";
  if (!twins.empty()) return {std::move(twins)};
  return {
      fmt::format("No case here has times of linear order beside those of a rival, or of Hilbert order over "
                  "the whole length or in chunks of {}.",
                  claimed_chunk)};
}

std::string claims_sentence(const std::vector<ClaimAnswer>& answers) {
  std::set<const ClaimRow*> claims, tested;
  for (const ClaimAnswer& answer : answers) {
    claims.insert(answer.claim);
    if (answer.verdict != ClaimVerdict::not_testable && !answer.other_dtype) tested.insert(answer.claim);
  }
  if (claims.empty()) return "The sweep names no claims to answer.";
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
                                      {ClaimVerdict::contradicted, Tone::bad},
                                      {ClaimVerdict::inconclusive, Tone::muted}})
    add(with(verdict), std::string(to_string(verdict)), tone);
  add(untestable, std::string(to_string(ClaimVerdict::not_testable)), Tone::muted);
  return tiles;
}

}  // namespace hilbench
