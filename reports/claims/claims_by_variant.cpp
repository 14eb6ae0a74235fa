#include "reports/claims/claims_by_variant.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "reports/claims/answer_times_and_misses.hpp"
#include "reports/claims/cache_levels.hpp"
#include "reports/claims/claim_records.hpp"
#include "reports/claims/claim_test.hpp"
#include "reports/view/dense_case.hpp"

namespace hilbench {
namespace {

std::string why_no_record(const Record* record, const std::string& variant, const char* where) {
  if (record == nullptr) return fmt::format("no record of {} in {}", variant, where);
  if (record->status == Status::ok) return "";
  return fmt::format("{} is {}: {}", variant, to_string(record->status), record->reason);
}

void answer_misses(ClaimAnswer& answer, const ClaimRecords& records) {
  answer.levels = answer_levels(*answer.claim->claimed, records);
  const std::string& only = answer.claim->test->level;
  std::erase_if(answer.levels,
                [&](const LevelAnswer& each) { return !only.empty() && each.level->name != only; });
  answer.verdict = combined(answer.levels);
  std::vector<std::string> said;
  for (const LevelAnswer& level : answer.levels) {
    if (level.measured && !answer.measured) answer.measured = level.measured;
    said.push_back(level_text(level, records.against->variant_id));
  }
  answer.why = fmt::format("{}", fmt::join(said, "; "));
  if (!answer.measured) answer.why = "no counters" + (said.empty() ? "" : ": " + answer.why);
}

void answer_times(ClaimAnswer& answer, const ClaimRecords& records) {
  const bool dense = answer.claim->test->dense;
  compare_times(answer, records, dense ? unpaired_time_ratio : time_ratio);
  if (!answer.measured) {
    answer.why = "another process used the device, or the two have no times that pair";
    return;
  }
  if (dense) answer.why = "the two are cases of their own, measured in turn";
  settle(answer);
}

ClaimAnswer answer_in(const ClaimRow& claim, const CaseView& of_case, const View& view) {
  ClaimAnswer answer{.claim = &claim, .where = &of_case, .dtype = of_case.work->dtype};
  const ClaimTest& test = *claim.test;
  const ComparedVariants& compared = claim.compared;
  const ClaimRecords records = test.dense
                                   ? records_beside_dense(of_case, dense_case(view, *of_case.work), compared)
                                   : claim_records(of_case, compared);
  answer.record = records.variant;
  answer.why = why_no_record(records.variant, compared.variant.id, "this case");
  if (answer.why.empty())
    answer.why = why_no_record(records.against, compared.against.id,
                               test.dense ? "the case with dense attention on these tokens" : "this case");
  if (!answer.why.empty()) return answer;
  if (claim.quantity == Quantity::cache_lines)
    answer_misses(answer, records);
  else
    answer_times(answer, records);
  return answer;
}

}  // namespace

std::vector<ClaimAnswer> answer_tested(const ClaimRow& claim, const View& view) {
  std::vector<ClaimAnswer> answers;
  for (const CaseView& of_case : view.cases)
    if (same_case(*claim.test, *of_case.work)) answers.push_back(answer_in(claim, of_case, view));
  if (answers.empty()) answers.push_back({.claim = &claim, .why = "no such case in this store"});
  return answers;
}

}  // namespace hilbench
