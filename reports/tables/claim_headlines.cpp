#include "reports/tables/claim_headlines.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "reports/tables/claim_cells.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

struct Judged {
  ClaimVerdict verdict;
  bool gain;  // one was claimed
  auto operator<=>(const Judged&) const = default;
};

// All judged rows of a claim that compare the same quantity in the same dtype.
struct Headline {
  const ClaimRow* claim = nullptr;
  std::string compares;
  std::vector<std::string> provenances;
  std::string remark;    // of another dtype than the claim's
  std::string evidence;  // address of the record of its first row
  std::vector<double> claimed, measured, random;
  std::map<Judged, std::size_t> verdicts;
};

std::string span_text(const std::vector<double>& values, int significant) {
  if (values.empty()) return "";
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const std::string from = number_text(*low, significant), to = number_text(*high, significant);
  return from == to ? from : fmt::format("{} to {}", from, to);
}

std::vector<Headline> headlines_of(const std::vector<ClaimAnswer>& answers) {
  std::vector<Headline> headlines;
  for (const ClaimAnswer& answer : answers) {
    if (answer.verdict == ClaimVerdict::not_testable) continue;
    const std::string compares = compared(answer);
    auto found = std::find_if(headlines.begin(), headlines.end(), [&](const Headline& known) {
      return known.claim->claim_id == answer.claim->claim_id && known.compares == compares &&
             known.remark == dtype_remark(answer);
    });
    if (found == headlines.end())
      found = headlines.insert(found, {.claim = answer.claim,
                                       .compares = compares,
                                       .remark = dtype_remark(answer),
                                       .evidence = evidence_address(answer)});
    auto& provenances = found->provenances;
    if (std::find(provenances.begin(), provenances.end(), answer.claim->provenance) == provenances.end())
      provenances.push_back(answer.claim->provenance);
    if (answer.claim->claimed) found->claimed.push_back(*answer.claim->claimed);
    if (answer.claim->claimed_range) found->claimed.push_back(answer.claim->claimed_range->high);
    if (answer.measured) found->measured.push_back(answer.measured->ratio);
    if (answer.random) found->random.push_back(answer.random->ratio);
    ++found->verdicts[{answer.verdict, is_about_a_gain(answer)}];
  }
  return headlines;
}

Cell headline_verdict(const Headline& headline) {
  std::vector<std::pair<Cell, std::size_t>> said;  // verdicts with the same text count together
  std::size_t rows = 0;
  for (const auto& [judged, count] : headline.verdicts) {
    const Cell verdict = shown_verdict(judged.verdict, judged.gain);
    if (said.empty() || said.back().first.text != verdict.text) said.emplace_back(verdict, 0);
    said.back().second += count;
    rows += count;
  }
  std::vector<std::string> parts;
  for (const auto& [verdict, count] : said)
    parts.push_back(rows == 1 ? verdict.text : counted_verdict(count, verdict.text));
  return {fmt::format("{}", fmt::join(parts, ", ")),
          said.size() == 1 ? said.front().first.tone : Tone::neutral};
}

}  // namespace

Table headline_claims_table(const std::vector<ClaimAnswer>& answers) {
  using H = const Headline&;
  const std::vector<ColumnOf<Headline>> columns = {
      {{"claim", "claim"}, [](H h) { return Cell{h.claim->claim_id}; }},
      {{"measured", "measured here", Align::right},
       [](H h) {
         return Cell{span_text(h.measured, 4), Tone::plain, h.evidence};
       }},
      {{"title", "what it says", Align::wrapped}, [](H h) { return Cell{h.claim->title}; }},
      {{"provenance", "obtained"},
       [](H h) { return Cell{fmt::format("{}", fmt::join(h.provenances, ", "))}; }},
      {{"compares", "compares"},
       [](H h) { return Cell{h.remark.empty() ? h.compares : h.compares + ", " + h.remark}; }},
      {{"claimed", "claimed", Align::right}, [](H h) { return Cell{span_text(h.claimed, 3)}; }},
      {{"random", "random order (control)", Align::right},
       [](H h) {
         return Cell{span_text(h.random, 4), Tone::muted};
       }},
      {{"verdict", "verdicts of its rows", Align::wrapped}, headline_verdict},
      {{"source", "source", Align::wrapped}, [](H h) { return Cell{h.claim->source}; }},
  };
  return make_table<Headline>("claims-headlines", "Claims that these records test", columns,
                              headlines_of(answers));
}

}  // namespace hilbench
