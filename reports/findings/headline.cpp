// What the records answer at a glance, and the question.
#include "reports/findings/headline.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "reports/check/check.hpp"
#include "reports/findings/sentences.hpp"
#include "reports/summaries/chains.hpp"
#include "reports/tables/rings.hpp"
#include "reports/tables/twins.hpp"
#include "reports/tables/window_times.hpp"
#include "reports/view/bent_rounds.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

constexpr std::size_t kMostRows = 3;

bool has_control(const View& view) {
  return std::any_of(view.cases.begin(), view.cases.end(), [](const CaseView& of_case) {
    return std::any_of(of_case.records.begin(), of_case.records.end(),
                       [](const Record* record) { return record->variant.kernel().order == "random"; });
  });
}

// What stands if nothing is compared; "" if several variants were measured.
std::string lone_variant_sentence(const View& view) {
  std::set<std::string> variants;
  for (const CaseView& of_case : view.cases)
    for (const Record* record : of_case.records)
      if (record->kind == ImplementationKind::kernel) variants.insert(record->variant_id);
  if (variants.size() != 1) return "";
  return fmt::format("Nothing is compared here: {} alone was measured, in {}.", *variants.begin(),
                     plural(view.cases.size(), "case", "cases"));
}

// Nothing but references, and so their twins, was asked for.
bool only_references(const View& view) {
  return std::all_of(view.cases.begin(), view.cases.end(), [](const CaseView& of_case) {
    return std::all_of(of_case.records.begin(), of_case.records.end(),
                       [](const Record* record) { return record->variant_id == record->reference; });
  });
}

// The first of each kind, then more of the first kind, in the sequence of the kinds.
std::vector<Outcome> chosen(const std::vector<std::vector<Outcome>>& kinds) {
  std::vector<Outcome> outcomes;
  std::size_t others = kinds.size();
  for (const std::vector<Outcome>& kind : kinds) {
    --others;
    for (std::size_t i = 0; i < kind.size() && (i == 0 || outcomes.size() + others < kMostRows); ++i)
      if (outcomes.size() < kMostRows) outcomes.push_back(kind[i]);
  }
  return outcomes;
}

std::string lower_case_first(std::string text) {
  if (!text.empty() && text.front() >= 'A' && text.front() <= 'Z') text.front() += 'a' - 'A';
  return text;
}

Table outcomes_table(const std::vector<Outcome>& outcomes) {
  using R = const Outcome&;
  const bool remarks =
      std::any_of(outcomes.begin(), outcomes.end(), [](R outcome) { return !outcome.remark.empty(); });
  const bool one_case =
      std::any_of(outcomes.begin(), outcomes.end(), [](R outcome) { return outcome.tally.cases == 1; });
  std::vector<ColumnOf<Outcome>> columns = {
      {{"compared", "compared", Align::wrapped},
       [](R r) { return Cell{fmt::format("{} against {}", r.what, r.against)}; }},
      {{"ratio", one_case ? "times as fast [95 %]" : "times as fast", Align::right},
       [](R r) { return Cell{r.tally.ratios()}; }},
      {{"verdict", "verdict", Align::wrapped},
       [](R r) { return Cell{lower_case_first(r.tally.verdict())}; }}};
  if (remarks) columns.push_back({{"remark", "remark", Align::wrapped}, [](R r) { return Cell{r.remark}; }});
  return make_table("headline", "", columns, outcomes);
}

std::vector<std::vector<Outcome>> not_empty(std::vector<std::vector<Outcome>> kinds) {
  std::erase_if(kinds, [](const auto& kind) { return kind.empty(); });
  return kinds;
}

// What the sweep was made for, by kind; without what it compares anyway.
std::vector<std::vector<Outcome>> asked_outcomes(const View& view) {
  const bool claimed = has_claimed_order(view);
  std::vector<std::vector<Outcome>> kinds = {traversal_outcomes(view), training_outcomes(view)};
  // Without the control, Hilbert order was not what the sweep asks about.
  if (claimed && !has_control(view)) kinds.push_back(rival_outcomes(view));
  kinds.push_back(hilbert_outcomes(view));
  if (!claimed) {
    kinds.push_back(window_outcomes(view));
    kinds.push_back(rival_outcomes(view));
  }
  return not_empty(std::move(kinds));
}

Headline told(const std::vector<std::vector<Outcome>>& kinds, const View& view) {
  Headline headline;
  std::size_t all = 0;
  for (const std::vector<Outcome>& kind : kinds) all += kind.size();
  const std::vector<Outcome> outcomes = chosen(kinds);
  headline.sentence = outcome_sentence(outcomes.front(), doubts_of(*view.records));
  headline.undecided = outcomes.front().tally.with(Verdict::inconclusive) == outcomes.front().tally.cases;
  if (outcomes.size() > 1) headline.table = outcomes_table(outcomes);
  if (all > outcomes.size())
    headline.more.push_back(fmt::format("The tables below have {} more.",
                                        plural(all - outcomes.size(), "comparison", "comparisons")));
  return headline;
}

// Several sentences, the first of which says what was found.
Headline told(std::vector<std::string> sentences) {
  Headline headline;
  if (sentences.empty()) return headline;
  headline.sentence = std::move(sentences.front());
  headline.more.assign(sentences.begin() + 1, sentences.end());
  return headline;
}

}  // namespace

std::string outcome_sentence(const Outcome& outcome, const std::vector<std::string>& doubts) {
  const bool undecided = outcome.tally.with(Verdict::inconclusive) == outcome.tally.cases;
  return fmt::format("{} ({}): {} {} {} times as fast as {}{}.", outcome.tally.verdict(),
                     fmt::join(doubts, ", "), outcome.what, undecided ? "was measured" : "is",
                     outcome.tally.ratios(), outcome.against, outcome.who.empty() ? "" : ", " + outcome.who);
}

namespace {

// What was compared, failures apart.
Headline compared_headline(const View& view, bool failed) {
  if (std::vector<std::string> chains = chain_sentences(view); !chains.empty())
    return told(std::move(chains));
  std::vector<std::vector<Outcome>> kinds = asked_outcomes(view);
  const bool claimed = has_claimed_order(view);
  const std::string rings = claimed ? "" : rings_sentence(view);
  if (kinds.empty()) {
    if (!rings.empty()) return told({rings});
    if (std::string twins = only_references(view) ? twins_sentence(view) : ""; !twins.empty())
      return told({std::move(twins)});
    if (std::string lone = lone_variant_sentence(view); !lone.empty()) return told({std::move(lone)});
    kinds = not_empty({variant_outcomes(view)});
    if (kinds.empty() && failed) return {};
    if (kinds.empty())
      return told(
          {fmt::format("No case here has times of linear order beside those of a rival, or of Hilbert "
                       "order over the whole length or in chunks of {}.",
                       claimed_chunk())});
  }
  Headline headline = told(kinds, view);
  for (std::string sentence :
       {rings, uncontrolled_sentence(view), claimed ? "" : window_times_sentence(view)})
    if (!sentence.empty()) headline.more.push_back(std::move(sentence));
  return headline;
}

}  // namespace

Headline headline_of(const View& view) {
  if (view.record_count == 0) return {};
  const std::string injected = injected_sentence(view), failed = failed_sentence(view);
  Headline headline = compared_headline(view, !failed.empty());
  std::vector<std::string> said;
  for (const std::string& sentence : {injected, failed, headline.sentence})
    if (!sentence.empty()) said.push_back(sentence);
  headline.sentence = fmt::format("{}", fmt::join(said, " "));
  return headline;
}

bool variants_lead(const View& view) {
  return chain_sentences(view).empty() && asked_outcomes(view).empty() && rings_sentence(view).empty() &&
         !only_references(view) && lone_variant_sentence(view).empty();
}

std::vector<std::string> main_sentences(const View& view) {
  Headline headline = headline_of(view);
  std::vector<std::string> said;
  if (!headline.sentence.empty()) said.push_back(std::move(headline.sentence));
  said.insert(said.end(), headline.more.begin(), headline.more.end());
  if (std::string bent = bent_rounds_sentence(view); !bent.empty()) said.push_back(std::move(bent));
  return said;
}

std::string bent_rounds_sentence(const View& view) {
  std::size_t cases = 0;
  std::optional<BentRounds> worst;
  for (const CaseView& of_case : view.cases) {
    bool is = false;
    for (const Record* record : of_case.records) {
      const auto bent = bent_rounds(*record);
      is = is || bent;
      if (bent && (!worst || bent->fewest < worst->fewest)) worst = bent;
    }
    cases += is;
  }
  if (cases == 0) return "";
  return fmt::format(
      "In {} of {} the budget was spent before all rounds were measured: a process has {} of {} at worst.",
      cases, plural(view.cases.size(), "case", "cases"), worst->fewest, worst->wanted);
}

std::string main_question(const View& view) {
  if (!chain_sentences(view).empty())
    return "What is left of the reported ratio where its programs run here, and which step makes it?";
  if (!traversal_sentences(view).empty())
    return "Does the sequence in which tiles are computed make attention faster? In which cases, and by how "
           "much?";
  const bool hilbert = !hilbert_sentences(view).empty();
  if (!hilbert || !has_control(view)) {
    if (!windows_sentence(view).empty() || !window_times_sentence(view).empty())
      return "Does the order of a grid make attention over windows faster?";
    if (!rivals_sentence(view).empty())
      return "How fast are the kernels, compared with libraries that compute the same?";
    if (!rings_sentence(view).empty()) return "How much faster than one rank is a ring of several?";
    if (!lone_variant_sentence(view).empty()) return "How much time and memory does each case need?";
    if (!hilbert && !only_references(view) && !variant_sentences(view).empty())
      return "Which variants are faster than the reference, and by how much?";
  }
  return "Does the order of rows in memory make long-context attention faster? In which cases, and by how "
         "much?";
}

}  // namespace hilbench
