#include "reports/claims/answers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "reports/claims/answer_rings.hpp"
#include "reports/claims/answer_times_and_misses.hpp"
#include "reports/claims/claim_records.hpp"
#include "reports/claims/claims_by_variant.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

std::string why_no_ratio(const Record& a, const Record& b) {
  return foreign_processes(a) + foreign_processes(b) > 0
             ? "another process used the GPU during the measurement"
             : "the two variants have no paired times";
}

// "linear order"; a baseline by its id.
std::string compared_with(const ComparedVariants& compared) {
  return compared.against.order.empty() ? compared.against.id : compared.against.order + " order";
}

// Why the rules leave a claim open.
std::string why_open(const ClaimAnswer& answer) {
  const Measured& measured = *answer.measured;
  const double claimed = *answer.claim->claimed, least = 1 / (1 + measured.margin),
               most = 1 + measured.margin;
  if (measured.verdict == (claimed < 1 ? Verdict::faster : Verdict::slower))
    return fmt::format(
        "it differs from {} the other way, and no control was measured: the table of slots alone may cost as "
        "much",
        compared_with(answer.claim->compared));
  if (!std::isfinite(measured.ci.low)) return "one value has no interval";
  const bool nothing = measured.ci.low <= most && measured.ci.high >= least;
  const bool all = measured.ci.low <= claimed && measured.ci.high >= claimed;
  if (nothing && all) return "the interval holds no effect and the claim as well";
  return nothing ? "the interval holds no effect, and more than the margin" : "the interval is too wide";
}

// The option that has this word: "fresh" of `buffers`.
const VariantOption& option_with(std::string_view word) {
  return *std::ranges::find_if(variant_fields(), [&](const VariantOption& option) {
    return std::ranges::find(option.choices, word) != option.choices.end();
  });
}

// With an option over without, for every kernel variant that a case holds in both forms.
std::vector<ClaimAnswer> answer_option(const ClaimRow& claim, const View& view) {
  const std::string& word = claim.compared.against.option;
  const VariantOption& option = option_with(word);
  const std::int64_t usual = option.get(Variant{});
  const auto has = [&](const Record& record, bool at_default) {
    return record.kind == ImplementationKind::kernel &&
           (at_default ? option.get(record.variant) == usual
                       : field_text(option, option.get(record.variant)) == word);
  };
  std::vector<ClaimAnswer> answers;
  for (const CaseView& of_case : view.cases) {
    std::map<std::string, const Record*> without;
    for (const Record* record : of_case.records)
      if (has(*record, true)) without[record->variant_id] = record;
    for (const Record* with : of_case.records) {
      if (!has(*with, false)) continue;
      Variant other = with->variant;
      option.set(other, usual);
      const auto found = without.find(variant_id(other));
      if (found == without.end()) continue;
      ClaimAnswer answer{.claim = &claim, .where = &of_case, .dtype = of_case.work->dtype};
      answer.record = found->second;
      answer.measured = time_ratio(*with, *found->second);
      answer.why = answer.measured
                       ? fmt::format("{} over {}; the claim states no case", with->variant_id, found->first)
                       : why_no_ratio(*with, *found->second);
      settle(answer);
      answers.push_back(std::move(answer));
    }
  }
  if (answers.empty())
    answers.push_back({.claim = &claim,
                       .why = fmt::format("needs one variant with {} and with {} {} in one case",
                                          field_text(option, usual), word, option.name)});
  return answers;
}

// Lengths on both sides of the claimed one, by the verdict of the variant against what it is compared with.
// Slower, but not slower than the control, is the price of the table and counts as equal.
struct Sides {
  std::size_t below = 0, below_faster = 0, above = 0, above_faster = 0, above_slower = 0, above_equal = 0;
  std::vector<std::string> seen;

  void add(const CaseView& of_case, const Measured& ratio, std::optional<Measured> control, double claimed) {
    const auto length = static_cast<double>(of_case.work->sequence_length);
    if (seen.size() < 8)
      seen.push_back(fmt::format("{}: {}, {}", of_case.work->sequence_length,
                                 ratio_text(ratio.ratio, ratio.ci),
                                 verdict_words(ratio.verdict, ratio.processes, ratio.margin)));
    if (length < claimed) ++below, below_faster += ratio.verdict == Verdict::faster;
    if (length <= claimed) return;
    ++above;
    above_faster += ratio.verdict == Verdict::faster;
    const bool slower = ratio.verdict == Verdict::slower && control;
    above_slower += slower && control->verdict == Verdict::slower;
    above_equal += ratio.verdict == Verdict::equivalent || (slower && control->verdict != Verdict::slower);
  }
  ClaimVerdict verdict() const {
    if (below_faster + above_slower > 0) return ClaimVerdict::contradicted;
    if (above_faster == above) return ClaimVerdict::reproduced;
    return above_equal == above ? ClaimVerdict::no_gain : ClaimVerdict::inconclusive;
  }
};

// "Pays above c, costs below": every longer case faster and no shorter one.
ClaimAnswer answer_break_even(const ClaimRow& claim, const View& view, Dtype dtype) {
  ClaimAnswer answer{.claim = &claim, .dtype = dtype};
  Sides sides;
  for (const CaseView& of_case : view.cases) {
    const ClaimRecords records = claim_records(of_case, claim.compared);
    if (of_case.work->dtype != dtype || !records.against || !records.variant) continue;
    const auto ratio = time_ratio(*records.against, *records.variant);
    const auto control = records.control ? time_ratio(*records.control, *records.variant) : std::nullopt;
    if (ratio) sides.add(of_case, *ratio, control, *claim.claimed);
  }
  if (sides.below == 0 || sides.above == 0) {
    answer.why = fmt::format("needs cases shorter and longer than {} tokens; here: {} shorter, {} longer",
                             number_text(*claim.claimed, 1), sides.below, sides.above);
    return answer;
  }
  answer.verdict = sides.verdict();
  answer.why = fmt::format("speedup by length: {}", fmt::join(sides.seen, "; "));
  return answer;
}

// One answer for each dtype of the cases that gives one; the first if none does.
template <class Answer>
std::vector<ClaimAnswer> for_each_dtype(const View& view, const Answer& answer) {
  std::set<Dtype> dtypes;
  for (const CaseView& of_case : view.cases) dtypes.insert(of_case.work->dtype);
  if (dtypes.empty()) dtypes.insert(Dtype::fp32);
  std::vector<ClaimAnswer> answers;
  for (const Dtype dtype : dtypes) answers.push_back(answer(dtype));
  const auto open = [](const ClaimAnswer& one) { return one.verdict == ClaimVerdict::not_testable; };
  if (std::all_of(answers.begin(), answers.end(), open)) return {answers.front()};
  std::erase_if(answers, open);
  return answers;
}

std::vector<ClaimAnswer> answer_one(const ClaimRow& claim, const View& view) {
  if (!claim.untestable.empty()) return {{.claim = &claim, .why = claim.untestable}};
  if (claim.test) return answer_tested(claim, view);
  if (claim.quantity == Quantity::buffers) return answer_option(claim, view);
  if (claim.quantity == Quantity::break_even)
    return for_each_dtype(view, [&](Dtype dtype) { return answer_break_even(claim, view, dtype); });
  if (claim.quantity == Quantity::communication) return {answer_communication(claim, view)};
  if (claim.quantity == Quantity::longest) return {answer_longest(claim, view)};
  if (claim.any_case)
    return for_each_dtype(view, [&](Dtype dtype) { return answer_over_cases(claim, view, dtype); });
  std::vector<ClaimAnswer> answers;
  for (const CaseView& of_case : view.cases)
    if (same_work(*claim.work, *of_case.work)) answers.push_back(answer_in_case(claim, of_case));
  if (answers.empty()) {
    const bool ring = claim.work->ring_size > 1;
    answers.push_back(
        {.claim = &claim,
         .why = ring ? fmt::format("not tested here: needs a ring of {} ranks", claim.work->ring_size)
                     : "no such case in this store"});
  }
  return answers;
}

}  // namespace

bool is_about_a_gain(const ClaimAnswer& answer) {
  const bool equal = answer.verdict == ClaimVerdict::reproduced && answer.measured &&
                     answer.measured->verdict == Verdict::equivalent;
  return claims_a_gain(*answer.claim) && !equal;
}

void settle(ClaimAnswer& answer) {
  if (!answer.measured) return;
  std::optional<Verdict> control;
  if (answer.against_control) control = answer.against_control->verdict;
  // With an option and without, the order is the same: no table of slots stands between them.
  if (answer.claim->quantity == Quantity::buffers) control = answer.measured->verdict;
  answer.verdict = judge_claim(*answer.claim->claimed, *answer.measured, control);
  const auto add = [&](const std::string& why) {
    if (!why.empty()) answer.why += (answer.why.empty() ? "" : "; ") + why;
  };
  if (answer.verdict == ClaimVerdict::inconclusive || answer.verdict == ClaimVerdict::excluded)
    add(why_open(answer));
  if (answer.measured->processes == 1) add("within one process");
}

std::string dtype_remark(const ClaimAnswer& answer) {
  const bool over_cases = answer.where == nullptr && answer.measured && answer.claim->any_case;
  if (over_cases || answer.claim->quantity == Quantity::break_even)
    return fmt::format("in {}", to_string(answer.dtype));
  if (!answer.other_dtype) return "";
  return fmt::format("measured in {}, {} {}", to_string(answer.dtype),
                     answer.claim->names_dtype ? "claimed in" : "we assumed",
                     to_string(answer.claim->work->dtype));
}

std::vector<ClaimAnswer> answers_of(ClaimOrigin origin, const std::vector<ClaimAnswer>& answers) {
  std::vector<ClaimAnswer> chosen;
  for (const ClaimAnswer& answer : answers)
    if (of_paper(*answer.claim) == (origin == ClaimOrigin::paper)) chosen.push_back(answer);
  return chosen;
}

std::vector<ClaimAnswer> answer_claims(const std::vector<ClaimRow>& claims, const View& view) {
  std::vector<ClaimAnswer> answers;
  for (const ClaimRow& claim : claims)
    for (ClaimAnswer& answer : answer_one(claim, view)) answers.push_back(std::move(answer));
  return answers;
}

}  // namespace hilbench
