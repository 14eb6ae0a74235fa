#include "reports/agreement_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "reports/claims/answers.hpp"
#include "reports/claims/claims_file.hpp"
#include "reports/tables/claim_cells.hpp"
#include "reports/tables/variant_rows.hpp"
#include "reports/view/format.hpp"
#include "reports/view/view.hpp"

namespace hilbench {
namespace {

constexpr std::array<Agreement, 4> kAgreements = {Agreement::opposite, Agreement::differs, Agreement::open,
                                                  Agreement::same};

// One comparison, or one claim, here and there.
struct Held {
  std::string run;   // the published one
  std::string what;  // the case, or the claim
  std::string of;    // the variant, or the quantity and the case
  std::string here, there;
  Cell verdict_here, verdict_there;
  Agreement agreement = Agreement::same;
  std::optional<double> apart;  // of the two ratios, as a share
};

std::optional<double> apart(const std::optional<Measured>& here, const std::optional<Measured>& there) {
  if (!here || !there || here->ratio <= 0 || there->ratio <= 0) return std::nullopt;
  return std::expm1(std::abs(std::log(here->ratio / there->ratio)));
}

std::string measured_text(const std::optional<Measured>& measured) {
  return measured ? ratio_text(measured->ratio, measured->ci) : "";
}

Cell verdict_cell(const Measured& measured) {
  return {verdict_words(measured.verdict, measured.processes, measured.margin), tone_of(measured.verdict)};
}

std::vector<Held> held_comparisons(const View& here, const PublishedRun& run, const View& there) {
  std::map<std::pair<std::string, std::string>, const Record*> known;
  for (const CaseView& of_case : there.cases)
    for (const Record* record : of_case.records) known[{record->case_id, record->variant_id}] = record;
  std::vector<Held> held;
  for (const CaseView& of_case : here.cases)
    for (const Record* record : of_case.records) {
      const auto found = known.find({record->case_id, record->variant_id});
      if (!record->speedup || found == known.end() || !found->second->speedup) continue;
      const Measured &mine = *record->speedup, &theirs = *found->second->speedup;
      if (mine.against != theirs.against || mine.verdict == Verdict::different_function) continue;
      held.push_back({.run = run.name,
                      .what = whole_case_text(*of_case.work),
                      .of = record->variant_id,
                      .here = measured_text(mine),
                      .there = measured_text(theirs),
                      .verdict_here = verdict_cell(mine),
                      .verdict_there = verdict_cell(theirs),
                      .agreement = agreement_of(mine.verdict, theirs.verdict),
                      .apart = apart(mine, theirs)});
    }
  return held;
}

// What an answer is to: a figure of a claim, in a case, in a dtype.
using Asked = std::tuple<std::string, std::string, std::string, std::string, Dtype>;
Asked asked_of(const ClaimAnswer& answer) {
  const ClaimRow& claim = *answer.claim;
  return {claim.claim_id, claim.metric + claim.says, claim.stated, answer.where ? answer.where->case_id : "",
          answer.dtype};
}

std::vector<Held> held_claims(const std::vector<ClaimAnswer>& here, const PublishedRun& run,
                              const std::vector<ClaimAnswer>& there) {
  std::map<Asked, const ClaimAnswer*> known;
  for (const ClaimAnswer& answer : there)
    if (answer.verdict != ClaimVerdict::not_testable) known[asked_of(answer)] = &answer;
  std::vector<Held> held;
  for (const ClaimAnswer& answer : here) {
    const auto found = known.find(asked_of(answer));
    if (answer.verdict == ClaimVerdict::not_testable || found == known.end()) continue;
    const ClaimAnswer& theirs = *found->second;
    held.push_back({.run = run.name,
                    .what = answer.claim->claim_id,
                    .of = fmt::format("{}, {}", compared(answer),
                                      answer.where ? whole_case_text(*answer.where->work) : "all cases here"),
                    .here = measured_text(answer.measured),
                    .there = measured_text(theirs.measured),
                    .verdict_here = shown_verdict(answer.verdict, is_about_a_gain(answer)),
                    .verdict_there = shown_verdict(theirs.verdict, is_about_a_gain(theirs)),
                    .agreement = agreement_of(answer.verdict, theirs.verdict),
                    .apart = apart(answer.measured, theirs.measured)});
  }
  return held;
}

std::size_t with(const std::vector<Held>& held, Agreement agreement) {
  return static_cast<std::size_t>(
      std::count_if(held.begin(), held.end(), [&](const Held& each) { return each.agreement == agreement; }));
}

double farthest(const std::vector<Held>& held) {
  double most = 0;
  for (const Held& each : held) most = std::max(most, each.apart.value_or(0));
  return most;
}

// "61 of 72 verdicts of h100/gpu-peak replicate; ..."
std::string sentence_of(const std::string& run, const char* of, const std::vector<Held>& held) {
  if (held.empty()) return "";
  return fmt::format(
      "{} of {} {} in {} replicate here. Of the others, {} {} opposite, {} {} otherwise, and {} {} "
      "inconclusive here "
      "or there. Ratios differ by at most {}.",
      with(held, Agreement::same), held.size(), of, run, with(held, Agreement::opposite),
      with(held, Agreement::opposite) == 1 ? "is" : "are", with(held, Agreement::differs),
      with(held, Agreement::differs) == 1 ? "decides" : "decide", with(held, Agreement::open),
      with(held, Agreement::open) == 1 ? "is" : "are", percent_text(farthest(held)));
}

struct RunSums {
  std::string run, machine;
  std::vector<Held> comparisons, claims;
};

Table sums_table(const std::vector<RunSums>& sums) {
  using S = const RunSums&;
  std::vector<ColumnOf<RunSums>> columns = {{{"run", "published"}, [](S s) { return Cell{s.run}; }},
                                            {{"machine", "machine"}, [](S s) { return Cell{s.machine}; }}};
  for (const auto& [key, title, member] : {std::tuple{"comparisons", "comparisons", &RunSums::comparisons},
                                           {"claims", "answers to claims", &RunSums::claims}}) {
    columns.push_back({{key, title, Align::right},
                       [held = member](S s) { return text_cell(std::to_string((s.*held).size())); }});
    for (const Agreement agreement : kAgreements)
      columns.push_back(
          {{fmt::format("{}_{}", key, to_string(agreement)), std::string(to_string(agreement)), Align::right},
           [held = member, agreement](S s) { return text_cell(std::to_string(with(s.*held, agreement))); }});
  }
  columns.push_back({{"apart", "ratios differ by at most", Align::right}, [](S s) {
                       return text_cell(s.comparisons.empty() ? "" : percent_text(farthest(s.comparisons)));
                     }});
  return make_table<RunSums>("agreement", "", columns, sums);
}

// Those that do not replicate; the opposite ones first.
Table others_table(std::string name, const char* what, const char* of, std::vector<Held> held) {
  std::erase_if(held, [](const Held& each) { return each.agreement == Agreement::same; });
  std::stable_sort(held.begin(), held.end(),
                   [](const Held& a, const Held& b) { return a.agreement < b.agreement; });
  using H = const Held&;
  const std::vector<ColumnOf<Held>> columns = {
      {{"agreement", "they are"}, [](H h) { return Cell{std::string(to_string(h.agreement))}; }},
      {{"what", what, Align::wrapped}, [](H h) { return Cell{h.what}; }},
      {{"of", of}, [](H h) { return Cell{h.of}; }},
      {{"here", "here", Align::right}, [](H h) { return Cell{h.here}; }},
      {{"verdict_here", "verdict"}, [](H h) { return h.verdict_here; }},
      {{"published", "published"}, [](H h) { return Cell{h.run}; }},
      {{"there", "there", Align::right}, [](H h) { return Cell{h.there}; }},
      {{"verdict_there", "verdict"}, [](H h) { return h.verdict_there; }}};
  return make_table<Held>(std::move(name), "", columns, held);
}

}  // namespace

std::string_view to_string(Agreement agreement) {
  switch (agreement) {
    case Agreement::opposite:
      return "opposite";
    case Agreement::differs:
      return "otherwise";
    case Agreement::open:
      return "open";
    default:
      return "same";
  }
}

Agreement agreement_of(Verdict a, Verdict b) {
  if (a == b) return Agreement::same;
  if (a == Verdict::inconclusive || b == Verdict::inconclusive) return Agreement::open;
  const auto takes_side = [](Verdict verdict) {
    return verdict == Verdict::faster || verdict == Verdict::slower;
  };
  return takes_side(a) && takes_side(b) ? Agreement::opposite : Agreement::differs;
}

Agreement agreement_of(ClaimVerdict a, ClaimVerdict b) {
  if (a == b) return Agreement::same;
  if (a == ClaimVerdict::inconclusive || b == ClaimVerdict::inconclusive) return Agreement::open;
  const auto is = [&](ClaimVerdict one, ClaimVerdict other) {
    return (a == one && b == other) || (a == other && b == one);
  };
  return is(ClaimVerdict::reproduced, ClaimVerdict::contradicted) ? Agreement::opposite : Agreement::differs;
}

Document agreement_document(const ReportInput& run, const std::vector<PublishedRun>& published) {
  const View here = view_of(run);
  const std::vector<ClaimRow> claims = claims_of(run);
  const std::vector<ClaimAnswer> answers = answer_claims(claims, here);
  Document document{.title = fmt::format("hilbench: does {} replicate?", here.sweep),
                    .question = "Which published verdicts on this sweep does this run replicate?",
                    .machine = here.machine,
                    .answer = {},
                    .tiles = {},
                    .sections = {}};
  std::vector<RunSums> sums;
  std::vector<Held> comparisons, of_claims;
  for (const PublishedRun& one : published) {
    const View there = view_of(one.input);
    RunSums& sum = sums.emplace_back(RunSums{.run = one.name, .machine = there.machine});
    sum.comparisons = held_comparisons(here, one, there);
    sum.claims = held_claims(answers, one, answer_claims(claims, there));
    for (std::string said : {sentence_of(one.name, "verdicts", sum.comparisons),
                             sentence_of(one.name, "answers to claims", sum.claims)})
      if (!said.empty()) document.answer.push_back(std::move(said));
    comparisons.insert(comparisons.end(), sum.comparisons.begin(), sum.comparisons.end());
    of_claims.insert(of_claims.end(), sum.claims.begin(), sum.claims.end());
  }
  if (document.answer.empty())
    document.answer.emplace_back(
        "None of the published runs has a case and variant of this one with a verdict: nothing can be held "
        "against "
        "each other.");
  document.sections.push_back(
      {.id = "agreement",
       .title = "By published run",
       .blocks = {
           Paragraph{"Same: both have the same verdict. Open: one of them is inconclusive. Otherwise: both "
                     "decide, and not alike. Opposite: one says faster where the other says slower, or one "
                     "reproduces a claim that the other contradicts."},
           sums_table(sums)}});
  for (Table table : {others_table("others", "case (segment/dilation)", "variant", std::move(comparisons)),
                      others_table("other_claims", "claim", "compares", std::move(of_claims))})
    if (!table.rows.empty())
      document.sections.push_back({.id = table.name,
                                   .title = table.name == "others"
                                                ? "Verdicts that do not replicate"
                                                : "Answers to claims that do not replicate",
                                   .blocks = {std::move(table)}});
  return document;
}

}  // namespace hilbench
