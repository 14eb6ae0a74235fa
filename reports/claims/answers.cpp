#include "reports/claims/answers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "reports/claims/answer_rings.hpp"
#include "reports/claims/answer_times_and_misses.hpp"
#include "reports/claims/claim_records.hpp"
#include "reports/records/stats.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

std::string why_no_ratio(const Record& a, const Record& b) {
  return foreign_processes(a) + foreign_processes(b) > 0
             ? "another process used the GPU during the measurement"
             : "the two variants have no paired times";
}

// Fresh over pooled buffers, for every kernel variant that a case holds in both forms.
std::vector<ClaimAnswer> answer_buffers(const ClaimRow& claim, const View& view) {
  std::vector<ClaimAnswer> answers;
  for (const CaseView& of_case : view.cases) {
    std::map<std::string, const Record*> pooled;
    for (const Record* record : of_case.records)
      if (record->kind == ImplementationKind::kernel && record->variant.buffers == Buffers::pooled)
        pooled[record->variant_id] = record;
    for (const Record* fresh : of_case.records) {
      if (fresh->kind != ImplementationKind::kernel || fresh->variant.buffers != Buffers::fresh) continue;
      Variant twin = fresh->variant;
      twin.buffers = Buffers::pooled;
      const auto found = pooled.find(variant_id(twin));
      if (found == pooled.end()) continue;
      ClaimAnswer answer{.claim = &claim, .where = &of_case};
      answer.measured = time_ratio(*fresh, *found->second);
      answer.why = answer.measured
                       ? fmt::format("{} over {}; the claim states no case", fresh->variant_id, found->first)
                       : why_no_ratio(*fresh, *found->second);
      settle(answer);
      answers.push_back(std::move(answer));
    }
  }
  if (answers.empty())
    answers.push_back(
        {.claim = &claim, .why = "needs one variant with pooled and with fresh buffers in one case"});
  return answers;
}

// "Pays above c, costs below": every longer case faster and no shorter one.
ClaimAnswer answer_break_even(const ClaimRow& claim, const View& view) {
  ClaimAnswer answer{.claim = &claim};
  int below = 0, above = 0, above_faster = 0, against = 0, unsettled = 0;
  std::vector<std::string> seen;
  for (const CaseView& of_case : view.cases) {
    const ClaimRecords records = claim_records(of_case, claim.order_chunk);
    if (!records.standard || !records.hilbert) continue;
    const auto ratio = time_ratio(*records.standard, *records.hilbert);
    if (!ratio) continue;
    unsettled += !sign_settled(ratio->ci, ratio->processes);
    const double length = static_cast<double>(of_case.work->sequence_length);
    if (seen.size() < 8)
      seen.push_back(
          fmt::format("{}: {}", of_case.work->sequence_length, ratio_text(ratio->ratio, ratio->ci)));
    if (length < *claim.claimed) ++below, against += ratio->ci.low > 1;
    if (length > *claim.claimed) ++above, above_faster += ratio->ci.low > 1, against += ratio->ci.high < 1;
  }
  if (below == 0 || above == 0) {
    answer.why = fmt::format("needs cases shorter and longer than {} tokens; here: {} shorter, {} longer",
                             number_text(*claim.claimed, 1), below, above);
    return answer;
  }
  answer.verdict = against > 0             ? ClaimVerdict::contradicted
                   : above_faster == above ? ClaimVerdict::reproduced
                                           : ClaimVerdict::no_difference;
  answer.why = fmt::format("speedup by length: {}", fmt::join(seen, "; "));
  if (unsettled > 0) answer.why += fmt::format("; in {} of the cases: {}", unsettled, kUnsettledWhy);
  return answer;
}

std::vector<ClaimAnswer> answer_one(const ClaimRow& claim, const View& view) {
  if (!claim.untestable.empty()) return {{.claim = &claim, .why = claim.untestable}};
  if (claim.quantity == Quantity::buffers) return answer_buffers(claim, view);
  if (claim.quantity == Quantity::break_even) return {answer_break_even(claim, view)};
  if (claim.quantity == Quantity::communication) return {answer_communication(claim, view)};
  if (claim.quantity == Quantity::longest) return {answer_longest(claim, view)};
  if (claim.any_case) return {answer_over_cases(claim, view)};
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

void settle(ClaimAnswer& answer) {
  if (!answer.measured) return;
  answer.verdict = judge(*answer.claim->claimed, answer.measured->ci);
  if (answer.measured->processes > 0 && !sign_settled(answer.measured->ci, answer.measured->processes))
    answer.why += std::string(answer.why.empty() ? "" : "; ") + std::string(kUnsettledWhy);
}

std::optional<Measured> over_all(const std::vector<Measured>& each) {
  if (each.empty()) return std::nullopt;
  Measured all = each.front();
  std::vector<double> ratios;
  for (const Measured& one : each) {
    ratios.push_back(one.ratio);
    all.ci = {std::min(all.ci.low, one.ci.low), std::max(all.ci.high, one.ci.high)};
    all.processes = std::min(all.processes, one.processes);
  }
  all.ratio = median(ratios);
  return all;
}

std::vector<ClaimAnswer> answer_claims(const std::vector<ClaimRow>& claims, const View& view) {
  std::vector<ClaimAnswer> answers;
  for (const ClaimRow& claim : claims)
    for (ClaimAnswer& answer : answer_one(claim, view)) answers.push_back(std::move(answer));
  return answers;
}

}  // namespace hilbench
