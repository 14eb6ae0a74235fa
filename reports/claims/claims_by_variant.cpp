#include "reports/claims/claims_by_variant.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "kernels/case/windows.hpp"
#include "reports/claims/cache_levels.hpp"
#include "reports/claims/claim_records.hpp"
#include "reports/claims/claim_values.hpp"
#include "reports/view/dense_case.hpp"

namespace hilbench {
namespace {

constexpr std::array<std::string_view, 7> kTestKeys = {"compares", "case",  "variant", "against",
                                                       "control",  "dense", "level"};

// Every parameter of a case by name, as ids write it: "30x48x80", "true.false", "bf16".
std::map<std::string, std::string> parameters_of(const Case& work) {
  std::map<std::string, std::string> known;
  for (const Field<Case>& field : case_fields())
    known[std::string(field.name)] = field_text(field, field.get(work));
  for (const Field<WindowDimension>& field : window_fields())
    known[std::string(field.name)] = list_text(field, work.windows);
  std::vector<std::int64_t> segments, dilations;
  for (const Branch& branch : work.pattern) {
    segments.push_back(has_windows(work) ? 0 : branch.segment_length);
    dilations.push_back(has_windows(work) ? 0 : branch.dilation);
  }
  known["segments"] = fmt::format("{}", fmt::join(segments, "."));
  known["dilations"] = fmt::format("{}", fmt::join(dilations, "."));
  return known;
}

std::string value_text(const YamlValue& value, const std::string& key) {
  if (!value.is_list()) return value.text();
  std::string_view separator = ".";
  for (const Field<WindowDimension>& field : window_fields())
    if (field.name == key && field.kind == FieldKind::integer) separator = "x";
  std::vector<std::string> parts;
  for (const YamlValue& part : value.items()) parts.push_back(part.text());
  return fmt::format("{}", fmt::join(parts, separator));
}

bool same_case(const ClaimTest& test, const Case& work) {
  const auto known = parameters_of(work);
  return std::all_of(test.work.begin(), test.work.end(),
                     [&](const auto& wanted) { return known.at(wanted.first) == wanted.second; });
}

const Record* record_in(const CaseView* of_case, const std::string& variant) {
  if (of_case == nullptr || variant.empty()) return nullptr;
  for (const Record* record : of_case->records)
    if (record->variant_id == variant) return record;
  return nullptr;
}

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
    said.push_back(level_text(level, records.standard->variant_id));
  }
  answer.why = fmt::format("{}", fmt::join(said, "; "));
  if (!answer.measured) answer.why = "no counters" + (said.empty() ? "" : ": " + answer.why);
}

void answer_times(ClaimAnswer& answer, const ClaimRecords& records) {
  const bool dense = answer.claim->test->dense;
  const auto ratio = dense ? unpaired_time_ratio : time_ratio;
  answer.measured = ratio(*records.standard, *records.hilbert, 0);
  if (!answer.measured) {
    answer.why = "another process used the device, or the two have no times that pair";
    return;
  }
  if (const auto& permute_ns = records.hilbert->permute_ns)
    answer.with_permutation = ratio(*records.standard, *records.hilbert, *permute_ns);
  if (records.random != nullptr) {
    answer.against_control = time_ratio(*records.random, *records.hilbert);
    answer.control_name = records.random->variant_id;
  }
  if (dense) answer.why = "the two are cases of their own, measured in turn";
  settle(answer);
}

ClaimAnswer answer_in(const ClaimRow& claim, const CaseView& of_case, const View& view) {
  ClaimAnswer answer{.claim = &claim, .where = &of_case, .dtype = of_case.work->dtype};
  const ClaimTest& test = *claim.test;
  const CaseView* other = test.dense ? dense_case(view, *of_case.work) : &of_case;
  const ClaimRecords records{.standard = record_in(other, test.against),
                             .hilbert = record_in(&of_case, test.variant),
                             .random = record_in(&of_case, test.control)};
  answer.why = why_no_record(records.hilbert, test.variant, "this case");
  if (answer.why.empty())
    answer.why = why_no_record(records.standard, test.against,
                               test.dense ? "the case with dense attention on these tokens" : "this case");
  if (!answer.why.empty()) return answer;
  if (claim.quantity == Quantity::cache_lines)
    answer_misses(answer, records);
  else
    answer_times(answer, records);
  return answer;
}

}  // namespace

ClaimTest test_of(const YamlValue& value) {
  check_keys(value, kTestKeys);
  ClaimTest test{.compares = text_of(value, "compares"),
                 .work = {},
                 .variant = text_of(value, "variant"),
                 .against = text_of(value, "against"),
                 .control = value.find("control") ? text_of(value, "control") : ""};
  if (const auto dense = value.find("dense")) test.dense = boolean_of(*dense, "dense");
  if (value.find("level")) {
    std::vector<std::string_view> names;
    for (const MissLevel& each : miss_levels()) names.push_back(each.name);
    test.level = choice_of(value, "level", names);
  }
  const auto work = value.find("case");
  if (!work || !work->is_map()) refuse_claim(value, "a test without case", "it names what a case must have");
  const auto known = parameters_of(Case{});
  for (const auto& [key, wanted] : work->entries()) {
    if (known.count(key) == 0) refuse_claim(wanted, fmt::format("'{}' is no parameter of a case", key), "");
    test.work[key] = value_text(wanted, key);
  }
  return test;
}

std::vector<ClaimAnswer> answer_tested(const ClaimRow& claim, const View& view) {
  std::vector<ClaimAnswer> answers;
  for (const CaseView& of_case : view.cases)
    if (same_case(*claim.test, *of_case.work)) answers.push_back(answer_in(claim, of_case, view));
  if (answers.empty()) answers.push_back({.claim = &claim, .why = "no such case in this store"});
  return answers;
}

}  // namespace hilbench
