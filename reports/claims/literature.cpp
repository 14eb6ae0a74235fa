#include "reports/claims/literature.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <sstream>

#include "kernels/case/windows.hpp"
#include "reports/claims/cache_levels.hpp"
#include "reports/claims/claim_records.hpp"
#include "reports/claims/claim_values.hpp"
#include "reports/view/dense_case.hpp"

namespace hilbench {

std::string_view embedded_literature();  // literature.yaml of this folder, built into the program

namespace {

constexpr std::string_view kAll = "literature";
constexpr std::array<std::string_view, 5> kPaperKeys = {"id", "title", "arxiv", "obtained", "claims"};
constexpr std::array<std::string_view, 4> kPaperClaimKeys = {"says", "claimed", "test", "untestable"};
constexpr std::array<std::string_view, 8> kTestKeys = {"compares", "case",  "variant",  "against",
                                                       "control",  "dense", "quantity", "level"};
constexpr std::array<std::string_view, 2> kQuantities = {"time", "misses"};

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

PaperTest test_of(const YamlValue& value) {
  check_keys(value, kTestKeys);
  PaperTest test{.compares = text_of(value, "compares"),
                 .work = {},
                 .variant = text_of(value, "variant"),
                 .against = text_of(value, "against"),
                 .control = value.find("control") ? text_of(value, "control") : ""};
  if (const auto dense = value.find("dense")) test.dense = boolean_of(*dense, "dense");
  if (value.find("quantity")) test.misses = choice_of(value, "quantity", kQuantities) == "misses";
  if (const auto level = value.find("level")) {
    std::vector<std::string_view> names;
    for (const MissLevel& each : miss_levels()) names.push_back(each.name);
    test.level = choice_of(value, "level", names);
    if (!test.misses) refuse_claim(*level, "a level of a cache, but no misses", "quantity: misses");
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

PaperClaim claim_of(const YamlValue& value, PaperClaim claim) {
  check_keys(value, kPaperClaimKeys);
  claim.says = text_of(value, "says");
  if (value.find("claimed")) claim.claimed = positive_number(value, "claimed");
  if (const auto test = value.find("test")) claim.test = test_of(*test);
  if (value.find("untestable")) claim.untestable = text_of(value, "untestable");
  if (claim.test.has_value() == !claim.untestable.empty())
    refuse_claim(value, fmt::format("claim of '{}'", claim.paper), "it needs either 'test' or 'untestable'");
  if (claim.test && claim.claimed == 0)
    refuse_claim(value, fmt::format("claim of '{}' without 'claimed'", claim.paper), "a test needs a ratio");
  return claim;
}

bool same_case(const PaperTest& test, const Case& work) {
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

void judge_misses(PaperAnswer& answer, const Record* against, const Record* variant, const Record* control) {
  std::vector<LevelAnswer> levels =
      answer_levels(answer.claim->claimed, {.standard = against, .hilbert = variant, .random = control});
  const std::string& only = answer.claim->test->level;
  std::erase_if(levels, [&](const LevelAnswer& each) { return !only.empty() && each.level->name != only; });
  answer.verdict = combined(levels);
  answer.excludes_claim = answer.verdict == ClaimVerdict::inconclusive &&
                          std::all_of(levels.begin(), levels.end(), [&](const LevelAnswer& level) {
                            return !level.measured || excludes_claim(answer.claim->claimed, *level.measured);
                          });
  std::vector<std::string> said;
  for (const LevelAnswer& level : levels) {
    if (level.measured && !answer.measured) answer.measured = level.measured;
    said.push_back(level_text(level, against->variant_id));
  }
  answer.why = fmt::format("{}", fmt::join(said, "; "));
  if (!answer.measured) answer.why = "no counters" + (said.empty() ? "" : ": " + answer.why);
}

void judge_times(PaperAnswer& answer, const Record& against, const Record& variant, const Record* control) {
  const bool dense = answer.claim->test->dense;
  const auto ratio = dense ? unpaired_time_ratio : time_ratio;
  answer.measured = ratio(against, variant, 0);
  if (!answer.measured) {
    answer.why = "another process used the device, or the two have no times that pair";
    return;
  }
  if (variant.permute_ns) answer.with_permutation = ratio(against, variant, *variant.permute_ns);
  if (control != nullptr) answer.against_control = time_ratio(*control, variant);
  answer.verdict =
      judge_claim(answer.claim->claimed, *answer.measured,
                  answer.against_control ? std::optional(answer.against_control->verdict) : std::nullopt);
  answer.excludes_claim =
      answer.verdict == ClaimVerdict::inconclusive && excludes_claim(answer.claim->claimed, *answer.measured);
  if (dense) answer.why = "the two are cases of their own, measured in turn";
  if (answer.measured->processes == 1)
    answer.why += answer.why.empty() ? "within one process" : ", within one process";
}

PaperAnswer answer_in(const PaperClaim& claim, const CaseView& of_case, const View& view) {
  PaperAnswer answer{.claim = &claim, .where = &of_case};
  const PaperTest& test = *claim.test;
  const CaseView* other = test.dense ? dense_case(view, *of_case.work) : &of_case;
  const Record *variant = record_in(&of_case, test.variant), *against = record_in(other, test.against),
               *control = record_in(&of_case, test.control);
  answer.why = why_no_record(variant, test.variant, "this case");
  if (answer.why.empty())
    answer.why = why_no_record(against, test.against,
                               test.dense ? "the case with dense attention on these tokens" : "this case");
  if (!answer.why.empty()) return answer;
  if (test.misses)
    judge_misses(answer, against, variant, control);
  else
    judge_times(answer, *against, *variant, control);
  return answer;
}

}  // namespace

std::vector<PaperClaim> parse_papers(const std::string& text, const std::string& where) {
  const YamlNode document = parse_claims_yaml(text, where);
  const YamlValue root(document, where, "");
  const auto papers = root.find("papers");
  if (!papers || !papers->is_list())
    refuse_claim(root, "not a file of papers", "it needs a list under the key 'papers'");
  std::vector<PaperClaim> claims;
  std::set<std::string> ids;
  for (const YamlValue& paper : papers->items()) {
    check_keys(paper, kPaperKeys);
    PaperClaim base;
    base.paper = text_of(paper, "id");
    base.title = text_of(paper, "title");
    base.arxiv = text_of(paper, "arxiv");
    base.obtained = text_of(paper, "obtained");
    if (!ids.insert(base.paper).second)
      refuse_claim(paper, fmt::format("paper '{}' is defined twice", base.paper), "ids are unique");
    const auto list = paper.find("claims");
    if (!list || !list->is_list() || list->items().empty())
      refuse_claim(paper, fmt::format("paper '{}' claims nothing", base.paper), "'claims' is a list");
    for (const YamlValue& claim : list->items()) claims.push_back(claim_of(claim, base));
  }
  return claims;
}

const std::vector<PaperClaim>& paper_claims() {
  static const std::vector<PaperClaim> kClaims =
      parse_papers(std::string(embedded_literature()), "literature.yaml");
  return kClaims;
}

std::vector<std::string> paper_names() {
  std::vector<std::string> names = {std::string(kAll)};
  for (const PaperClaim& claim : paper_claims())
    if (claim.test && names.back() != claim.paper) names.push_back(claim.paper);
  return names;
}

std::vector<PaperAnswer> answer_papers(const std::vector<PaperClaim>& claims, const View& view) {
  std::vector<PaperAnswer> answers;
  for (const PaperClaim& claim : claims) {
    if (!claim.test) {
      answers.push_back({.claim = &claim, .why = claim.untestable});
      continue;
    }
    const std::size_t before = answers.size();
    for (const CaseView& of_case : view.cases)
      if (same_case(*claim.test, *of_case.work)) answers.push_back(answer_in(claim, of_case, view));
    if (answers.size() == before) answers.push_back({.claim = &claim, .why = "no such case in this store"});
  }
  return answers;
}

std::vector<PaperAnswer> answer_papers(const View& view) {
  const auto named = view.meta.find("claims");
  if (named == view.meta.end()) return {};
  std::istringstream words(named->second);
  const std::set<std::string> names{std::istream_iterator<std::string>(words), {}};
  std::vector<PaperAnswer> answers = answer_papers(paper_claims(), view);
  std::erase_if(answers, [&](const PaperAnswer& answer) {
    return names.count(std::string(kAll)) + names.count(answer.claim->paper) == 0;
  });
  return answers;
}

}  // namespace hilbench
