#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "reports/tables/tables.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

using A = const ClaimAnswer&;
using Columns = std::vector<ColumnOf<ClaimAnswer>>;

Tone tone_of(ClaimVerdict verdict) {
  switch (verdict) {
    case ClaimVerdict::reproduced:
      return Tone::good;
    case ClaimVerdict::contradicted:
      return Tone::bad;
    case ClaimVerdict::not_testable:
      return Tone::muted;
    default:
      return Tone::neutral;
  }
}

// The same with what is reproduced: borne out alike, a claimed loss is no success.
Cell told_verdict(ClaimVerdict verdict, bool gain) {
  const std::string text(to_string(verdict));
  if (verdict != ClaimVerdict::reproduced || gain) return {text, tone_of(verdict)};
  return {text + ": no gain claimed", Tone::neutral};
}

// Caches are told by the level that decided, or as the layout's count where none did.
std::string compared(A answer) {
  constexpr std::array<std::string_view, 8> kNames = {
      "kernel time", "buffers", "lines of the layout", "memory", "bytes sent", "length", "length", "other"};
  for (const LevelAnswer& level : answer.levels)
    if (level.measured) return std::string(level.level->name) + " read misses";
  return std::string(kNames[static_cast<std::size_t>(answer.claim->quantity)]);
}

std::string measured_text(const std::optional<Measured>& measured) {
  if (!measured) return "";
  if (measured->ci.low == measured->ci.high) return number_text(measured->ratio) + " exactly";
  return ratio_text(measured->ratio, measured->ci);
}

std::string claimed_text(const ClaimRow& claim) {
  if (claim.claimed_range)
    return number_text(claim.claimed_range->low, 3) + " to " + number_text(claim.claimed_range->high, 3);
  return claim.claimed ? number_text(*claim.claimed, 3) : "";
}

Cell ratio_cell(const std::optional<Measured>& measured) {
  return {data_text(measured ? std::optional(measured->ratio) : std::nullopt)};
}
Cell end_cell(const std::optional<Measured>& measured, double Interval::*end) {
  return {data_text(measured ? std::optional(measured->ci.*end) : std::nullopt)};
}
Cell verdict_cell(A a) {
  return {std::string(to_string(a.verdict)), tone_of(a.verdict)};
}

ColumnOf<ClaimAnswer> claim_column() {
  return {{"claim", "claim"}, [](A a) { return Cell{a.claim->claim_id}; }};
}
ColumnOf<ClaimAnswer> compares_column() {
  return {{"compares", "compares"}, [](A a) { return Cell{compared(a)}; }};
}
// The case on one line, the whole configuration further right; what is no case stands as the claim gives it.
ColumnOf<ClaimAnswer> work_column() {
  return {{"work", "case (segment/dilation)", Align::wrapped}, [](A a) {
            if (a.where) return Cell{case_text(*a.where->work)};
            if (a.claim->any_case && a.measured && !a.claim->ring_size) return Cell{"all cases here"};
            return Cell{a.claim->work ? case_text(*a.claim->work) : a.claim->configuration};
          }};
}
ColumnOf<ClaimAnswer> configuration_column() {
  return {{"configuration", "configuration"}, [](A a) { return Cell{a.claim->configuration}; }};
}
ColumnOf<ClaimAnswer> stated_column() {
  return {{"stated", "as stated"}, [](A a) { return Cell{a.claim->stated}; }};
}
ColumnOf<ClaimAnswer> claimed_column() {
  return {{"claimed", "claimed", Align::right}, [](A a) { return Cell{claimed_text(*a.claim)}; }};
}
ColumnOf<ClaimAnswer> provenance_column() {
  return {{"provenance", "obtained"}, [](A a) { return Cell{a.claim->provenance}; }};
}
ColumnOf<ClaimAnswer> why_column(const char* title) {
  return {{"why", title, Align::wrapped}, [](A a) { return Cell{a.why}; }};
}
ColumnOf<ClaimAnswer> case_column() {
  return {{"case", "case"}, [](A a) { return Cell{a.where ? a.where->case_id : ""}; }};
}
ColumnOf<ClaimAnswer> source_column() {
  return {{"source", "source"}, [](A a) { return Cell{a.claim->source}; }};
}

std::vector<ClaimAnswer> answers_where(const std::vector<ClaimAnswer>& answers, bool judged) {
  std::vector<ClaimAnswer> chosen;
  for (A answer : answers)
    if ((answer.verdict != ClaimVerdict::not_testable) == judged) chosen.push_back(answer);
  return chosen;
}

}  // namespace

Table claims_table(const std::vector<ClaimAnswer>& answers) {
  const Columns columns = {
      claim_column(),
      compares_column(),
      {{"metric", ""}, [](A a) { return Cell{a.claim->metric}; }},
      configuration_column(),
      stated_column(),
      provenance_column(),
      {{"claimed", ""}, [](A a) { return Cell{data_text(a.claim->claimed)}; }},
      {{"measured", ""}, [](A a) { return ratio_cell(a.measured); }},
      {{"measured_low", ""}, [](A a) { return end_cell(a.measured, &Interval::low); }},
      {{"measured_high", ""}, [](A a) { return end_cell(a.measured, &Interval::high); }},
      {{"verdict", ""}, verdict_cell},
      {{"with_permutation", ""}, [](A a) { return ratio_cell(a.with_permutation); }},
      {{"with_permutation_low", ""}, [](A a) { return end_cell(a.with_permutation, &Interval::low); }},
      {{"with_permutation_high", ""}, [](A a) { return end_cell(a.with_permutation, &Interval::high); }},
      {{"random", ""}, [](A a) { return ratio_cell(a.control); }},
      {{"random_low", ""}, [](A a) { return end_cell(a.control, &Interval::low); }},
      {{"random_high", ""}, [](A a) { return end_cell(a.control, &Interval::high); }},
      {{"tokens", ""}, [](A a) { return ratio_cell(a.tokens); }},
      {{"tokens_low", ""}, [](A a) { return end_cell(a.tokens, &Interval::low); }},
      {{"tokens_high", ""}, [](A a) { return end_cell(a.tokens, &Interval::high); }},
      why_column(""),
      case_column(),
      source_column(),
      {{"note", ""}, [](A a) { return Cell{a.claim->note}; }},
  };
  return make_table<ClaimAnswer>("claims", "", columns, answers);
}

namespace {

// A level of an answer, as a row of its own.
struct LevelRow {
  const ClaimAnswer* answer = nullptr;
  const LevelAnswer* level = nullptr;
};
using L = const LevelRow&;

Cell misses_cell(const std::optional<LevelCount>& count) {
  return {data_text(count ? std::optional(count->misses) : std::nullopt)};
}
Cell range_cell(const std::vector<double>& ratios) {
  std::vector<std::string> texts;
  if (ratios.empty()) return {};
  const auto [low, high] = std::minmax_element(ratios.begin(), ratios.end());
  for (const double end : {*low, *high})
    if (const std::string text = fmt::format("{:+.1f} %", (end - 1) * 100); texts.empty() || texts[0] != text)
      texts.push_back(text);
  return {fmt::format("{}", fmt::join(texts, " to "))};
}

}  // namespace

Table claim_levels_table(const std::vector<ClaimAnswer>& answers) {
  std::vector<LevelRow> rows;
  for (A answer : answers)
    for (const LevelAnswer& level : answer.levels) rows.push_back({&answer, &level});
  const std::vector<ColumnOf<LevelRow>> columns = {
      {{"claim", "claim"}, [](L l) { return Cell{l.answer->claim->claim_id}; }},
      {{"metric", "metric", Align::left, Show::data}, [](L l) { return Cell{l.answer->claim->metric}; }},
      {{"work", "case (segment/dilation)", Align::wrapped, Show::page},
       [](L l) { return Cell{l.answer->where ? case_text(*l.answer->where->work) : "all cases here"}; }},
      {{"case", "", Align::left, Show::data},
       [](L l) { return Cell{l.answer->where ? l.answer->where->case_id : ""}; }},
      {{"claimed", "claimed", Align::right},
       [](L l) { return Cell{fmt::format("{:+.1f} %", (1 / *l.answer->claim->claimed - 1) * 100)}; }},
      {{"level", "level"}, [](L l) { return Cell{std::string(l.level->level->name)}; }},
      {{"against_linear", "misses against linear", Align::right},
       [](L l) { return range_cell(l.level->to_standard); }},
      {{"against_random", "against random (control)", Align::right},
       [](L l) { return range_cell(l.level->to_control); }},
      {{"verdict", "verdict"},
       [](L l) {
         return Cell{std::string(to_string(l.level->verdict)), tone_of(l.level->verdict)};
       }},
      {{"ratio", "", Align::right, Show::data}, [](L l) { return ratio_cell(l.level->measured); }},
      {{"ratio_low", "", Align::right, Show::data},
       [](L l) { return end_cell(l.level->measured, &Interval::low); }},
      {{"ratio_high", "", Align::right, Show::data},
       [](L l) { return end_cell(l.level->measured, &Interval::high); }},
      {{"linear", "", Align::right, Show::data}, [](L l) { return misses_cell(l.level->standard); }},
      {{"hilbert", "", Align::right, Show::data}, [](L l) { return misses_cell(l.level->hilbert); }},
      {{"random", "", Align::right, Show::data}, [](L l) { return misses_cell(l.level->control); }},
      {{"counters", "counters"},
       [](L l) { return Cell{l.level->hilbert ? l.level->hilbert->counters : ""}; }},
      {{"source", "by"}, [](L l) { return Cell{l.level->hilbert ? l.level->hilbert->source : ""}; }},
      {{"passes", "passes", Align::right},
       [](L l) { return Cell{l.level->hilbert ? std::to_string(l.level->hilbert->passes) : ""}; }},
      {{"why", "remark", Align::wrapped}, [](L l) { return Cell{l.level->why}; }},
  };
  return make_table<LevelRow>("claim_levels", "Claims about caches, level by level", columns, rows);
}

namespace {

// All judged rows of a claim that compare the same quantity.
struct Headline {
  const ClaimRow* claim = nullptr;
  std::string compares;
  std::vector<std::string> provenances;
  std::vector<double> claimed, measured, control;
  std::map<std::pair<ClaimVerdict, bool>, std::size_t> verdicts;  // bool: a gain was claimed
};

std::string span_text(const std::vector<double>& values, int significant) {
  if (values.empty()) return "";
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const std::string from = number_text(*low, significant), to = number_text(*high, significant);
  return from == to ? from : fmt::format("{} to {}", from, to);
}

std::vector<Headline> headlines_of(const std::vector<ClaimAnswer>& answers) {
  std::vector<Headline> headlines;
  for (A answer : answers_where(answers, true)) {
    const std::string compares = compared(answer);
    auto found = std::find_if(headlines.begin(), headlines.end(), [&](const Headline& known) {
      return known.claim->claim_id == answer.claim->claim_id && known.compares == compares;
    });
    if (found == headlines.end())
      found = headlines.insert(found, {.claim = answer.claim, .compares = compares});
    auto& provenances = found->provenances;
    if (std::find(provenances.begin(), provenances.end(), answer.claim->provenance) == provenances.end())
      provenances.push_back(answer.claim->provenance);
    if (answer.claim->claimed) found->claimed.push_back(*answer.claim->claimed);
    if (answer.claim->claimed_range) found->claimed.push_back(answer.claim->claimed_range->high);
    if (answer.measured) found->measured.push_back(answer.measured->ratio);
    if (answer.control) found->control.push_back(answer.control->ratio);
    ++found->verdicts[{answer.verdict, claims_a_gain(*answer.claim)}];
  }
  return headlines;
}

Cell headline_verdict(const Headline& headline) {
  std::vector<std::pair<Cell, std::size_t>> said;  // verdicts that read alike count together
  std::size_t rows = 0;
  for (const auto& [kind, count] : headline.verdicts) {
    const Cell told = told_verdict(kind.first, kind.second);
    if (said.empty() || said.back().first.text != told.text) said.emplace_back(told, 0);
    said.back().second += count;
    rows += count;
  }
  std::vector<std::string> parts;
  for (const auto& [told, count] : said)
    parts.push_back(rows == 1 ? told.text : fmt::format("{} {}", count, told.text));
  return {fmt::format("{}", fmt::join(parts, ", ")),
          said.size() == 1 ? said.front().first.tone : Tone::neutral};
}

}  // namespace

Table headline_claims_table(const std::vector<ClaimAnswer>& answers) {
  using H = const Headline&;
  const std::vector<ColumnOf<Headline>> columns = {
      {{"claim", "claim"}, [](H h) { return Cell{h.claim->claim_id}; }},
      {{"title", "what it says", Align::wrapped}, [](H h) { return Cell{h.claim->title}; }},
      {{"provenance", "obtained"},
       [](H h) { return Cell{fmt::format("{}", fmt::join(h.provenances, ", "))}; }},
      {{"compares", "compares"}, [](H h) { return Cell{h.compares}; }},
      {{"claimed", "claimed", Align::right}, [](H h) { return Cell{span_text(h.claimed, 3)}; }},
      {{"measured", "measured here", Align::right}, [](H h) { return Cell{span_text(h.measured, 4)}; }},
      {{"random", "random order (control)", Align::right},
       [](H h) {
         return Cell{span_text(h.control, 4), Tone::muted};
       }},
      {{"verdict", "verdict of its rows", Align::wrapped}, headline_verdict},
      {{"source", "source", Align::wrapped}, [](H h) { return Cell{h.claim->source}; }},
  };
  return make_table<Headline>("claims-headlines", "Claims that these records test", columns,
                              headlines_of(answers));
}

Table judged_claims_table(const std::vector<ClaimAnswer>& answers) {
  const Columns columns = {
      claim_column(),
      work_column(),
      compares_column(),
      claimed_column(),
      {{"measured", "measured [interval]", Align::right},
       [](A a) { return Cell{measured_text(a.measured)}; }},
      {{"verdict", "verdict"}, [](A a) { return told_verdict(a.verdict, claims_a_gain(*a.claim)); }},
      {{"random", "random order (control)", Align::right},
       [](A a) {
         return Cell{measured_text(a.control), Tone::muted};
       }},
      {{"with_permutation", "with one permutation", Align::right},
       [](A a) { return Cell{measured_text(a.with_permutation)}; }},
      {{"tokens", "@tokens (different function)", Align::right},
       [](A a) {
         return Cell{measured_text(a.tokens), Tone::muted};
       }},
      provenance_column(),
      why_column("basis"),
      stated_column(),
      configuration_column(),
      source_column(),
  };
  return make_table<ClaimAnswer>("claims-judged", "Judged with these records", columns,
                                 answers_where(answers, true));
}

Table untestable_claims_table(const std::vector<ClaimAnswer>& answers) {
  const Columns columns = {claim_column(),   work_column(),          compares_column(),
                           claimed_column(), why_column("why"),      provenance_column(),
                           stated_column(),  configuration_column(), source_column()};
  return make_table<ClaimAnswer>("claims-untestable", "", columns, answers_where(answers, false));
}

}  // namespace hilbench
