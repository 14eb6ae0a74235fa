#include "reports/document/first_sentences.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "reports/claims/claim_records.hpp"
#include "reports/records/stats.hpp"
#include "reports/tables/rings.hpp"
#include "reports/tables/rivals.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

// Results against one reference over several cases.
struct Tally {
  std::size_t faster = 0, slower = 0, undecided = 0, unsettled = 0;
  double low = 0, high = 0;

  std::size_t cases() const { return faster + slower + undecided + unsettled; }
  void add(const Measured& ratio) {
    low = cases() == 0 ? ratio.ratio : std::min(low, ratio.ratio);
    high = std::max(high, ratio.ratio);
    const Verdict verdict = verdict_of(ratio.ci);
    if (!sign_settled(ratio.ci, ratio.processes))
      ++unsettled;
    else
      ++(verdict == Verdict::faster ? faster : verdict == Verdict::slower ? slower : undecided);
  }
  std::string text() const {
    std::string said = fmt::format("was faster than linear order in {} of {}, slower in {}; ", faster,
                                   plural(cases(), "case", "cases"), slower);
    if (unsettled > 0) said += fmt::format("in {}: {}; ", unsettled, kUnsettledWhy);
    return said + fmt::format("no difference is shown in {} (speedup of kernel time {} to {})", undecided,
                              number_text(low), number_text(high));
  }
};

// Kernel time of Hilbert order in chunks of `chunk` against linear order, and of random order, the negative
// control. Empty if no case has both sides.
std::string hilbert_sentence(const View& view, std::int64_t chunk, std::string_view chunk_text) {
  Tally hilbert, random;
  for (const CaseView& of_case : view.cases) {
    const ClaimRecords records = claim_records(of_case, chunk);
    if (!records.standard || !records.hilbert) continue;
    const auto ratio = time_ratio(*records.standard, *records.hilbert);
    if (!ratio) continue;
    hilbert.add(*ratio);
    if (!records.random) continue;
    if (const auto control = time_ratio(*records.standard, *records.random)) random.add(*control);
  }
  if (hilbert.cases() == 0) return "";
  std::string said = fmt::format("Hilbert order{} {}.", chunk_text, hilbert.text());
  if (random.cases() == 0) return said + " Random order was not measured with it, so this may be chance.";
  return said + fmt::format(" Random order, the negative control, {}.", random.text());
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

}  // namespace

std::vector<std::string> main_sentences(const View& view) {
  const std::int64_t claimed_chunk = ClaimRow{}.order_chunk;
  const std::string claimed = hilbert_sentence(view, claimed_chunk, "");
  const std::string whole = hilbert_sentence(view, 0, " over the whole length");
  if (!claimed.empty() && whole.empty()) return {claimed};
  if (!claimed.empty())
    return {hilbert_sentence(view, claimed_chunk, fmt::format(" in chunks of {}", claimed_chunk)), whole};
  std::vector<std::string> said;
  for (const std::string& one : {whole, rivals_sentence(view), rings_sentence(view)})
    if (!one.empty()) said.push_back(one);
  if (said.empty() && view.record_count > 0)
    said.push_back("No case here has times of linear order and of another order or a rival.");
  return said;
}

std::string claims_sentence(const std::vector<ClaimAnswer>& answers) {
  std::set<const ClaimRow*> claims, tested;
  for (const ClaimAnswer& answer : answers) {
    claims.insert(answer.claim);
    if (answer.verdict != ClaimVerdict::not_testable) tested.insert(answer.claim);
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

std::vector<Tile> claim_tiles(const std::vector<ClaimAnswer>& answers) {
  const auto count = [&](auto counts) {
    return static_cast<std::size_t>(std::count_if(answers.begin(), answers.end(), counts));
  };
  const auto with = [&](ClaimVerdict verdict) {
    return count([verdict](const ClaimAnswer& a) { return a.verdict == verdict; });
  };
  const std::size_t untestable = with(ClaimVerdict::not_testable);
  if (untestable == answers.size()) return {};
  const std::size_t reproduced = with(ClaimVerdict::reproduced);
  const std::size_t gains = count(
      [](const ClaimAnswer& a) { return a.verdict == ClaimVerdict::reproduced && claims_a_gain(*a.claim); });
  std::vector<Tile> tiles;
  const auto add = [&](std::size_t value, std::string label, Tone tone) {
    tiles.push_back({std::to_string(value), std::move(label), value > 0 ? tone : Tone::muted});
  };
  add(gains, "gains reproduced", Tone::good);
  add(reproduced - gains, "claims of a loss or of no difference reproduced", Tone::neutral);
  for (const auto& [verdict, tone] : {std::pair{ClaimVerdict::smaller_than_claimed, Tone::neutral},
                                      {ClaimVerdict::no_difference, Tone::neutral},
                                      {ClaimVerdict::contradicted, Tone::bad},
                                      {ClaimVerdict::mixed, Tone::neutral}})
    add(with(verdict), std::string(to_string(verdict)), tone);
  add(untestable, std::string(to_string(ClaimVerdict::not_testable)), Tone::muted);
  return tiles;
}

}  // namespace hilbench
