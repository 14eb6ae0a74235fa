#include "reports/claims/answer_times_and_misses.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "reports/claims/claim_records.hpp"

namespace hilbench {
namespace {

constexpr const char* kLinesCounter = "layout_lines_64_per_tile";

std::string missing_reason(const Record* record, const std::string& name) {
  if (!record) return fmt::format("no {} record of this case", name);
  if (record->status != Status::ok) return fmt::format("{} is {}", name, to_string(record->status));
  if (foreign_processes(*record) > 0) return "another process used the GPU during the measurement";
  return "";
}

// Why the two variants give no ratio; `lacking` if both are there.
std::string no_pair(const ClaimRow& claim, const ClaimRecords& records, const char* lacking) {
  const ComparedVariants& compared = claim.compared;
  std::string why = missing_reason(records.against, compared.against.id);
  const char* chunk = compared.order_chunk ? " with the claimed chunk" : "";
  if (why.empty()) why = missing_reason(records.variant, compared.variant.id + chunk);
  return why.empty() ? std::string(lacking) : why;
}

// "claimed 28 % fewer": a ratio against / variant as a change of misses.
std::string claimed_fewer(const ClaimRow& claim) {
  const auto percent = [](double ratio) { return fmt::format("{:.0f}", (1 - 1 / ratio) * 100); };
  if (!claim.claimed_range) return fmt::format("claimed {} % fewer", percent(*claim.claimed));
  return fmt::format("claimed {} to {} % fewer", percent(claim.claimed_range->low),
                     percent(claim.claimed_range->high));
}

std::string lines_text(const std::optional<Measured>& lines) {
  return lines ? fmt::format("64-byte lines in the layout: {:+.1f} %", (1 / lines->ratio - 1) * 100)
               : "no layout counts";
}

// How it was counted: source, state of the caches, executions.
std::string counting_text(const LevelAnswer& level, const Record& record) {
  const LevelCount& count = *level.variant;
  return fmt::format("{}, {} caches, one execution per pass, {} pass{}", count.source, record.cache,
                     count.passes, count.passes == 1 ? "" : "es");
}

// By the levels that were counted, otherwise by the count of lines in the layout. `record`: any
// that was counted.
void answer_caches(ClaimAnswer& answer, const std::optional<Measured>& lines, const Record& record) {
  answer.verdict = combined(answer.levels);
  std::vector<std::string> said, unread;
  const LevelAnswer* outermost = nullptr;
  for (const LevelAnswer& level : answer.levels) {
    if (level.measured && !outermost) outermost = &level;
    (level.measured ? said : unread)
        .push_back(level_text(level, order_or_id(answer.claim->compared.against)));
  }
  if (outermost) {
    answer.measured = outermost->measured;
    said.insert(said.end(), unread.begin(), unread.end());
    answer.why = fmt::format("{}; {} ({}); {}", claimed_fewer(*answer.claim), fmt::join(said, "; "),
                             counting_text(*outermost, record), lines_text(lines));
    return;
  }
  const std::string why =
      unread.empty() ? "none for this device" : fmt::format("{}", fmt::join(unread, "; "));
  answer.measured = lines;
  if (lines) answer.verdict = judge_claim(*answer.claim->claimed, *lines, std::nullopt);
  answer.why = lines ? fmt::format("{}; {} (an exact count, but not of a cache); no hardware counters: {}",
                                   claimed_fewer(*answer.claim), lines_text(lines), why)
                     : fmt::format("no counters: {}", why);
}

void answer_caches_in(ClaimAnswer& answer, const ClaimRecords& records) {
  answer.why = no_pair(*answer.claim, records, "");
  if (!answer.why.empty()) return;
  answer.levels = answer_levels(*answer.claim->claimed, records);
  answer_caches(answer, counter_ratio(*records.against, *records.variant, kLinesCounter), *records.against);
}

void answer_times_in(ClaimAnswer& answer, const ClaimRecords& records) {
  compare_times(answer, records, time_ratio);
  if (!answer.measured) answer.why = no_pair(*answer.claim, records, "the two variants have no paired times");
  settle(answer);
}

void answer_memory_in(ClaimAnswer& answer, const ClaimRecords& records) {
  if (records.against && records.variant) answer.measured = memory_ratio(*records.against, *records.variant);
  answer.why = answer.measured ? "bytes that each variant holds, including permuted copies and index"
                               : no_pair(*answer.claim, records, "the records hold no memory sizes");
  settle(answer);
}

// True if a claim without a pattern is about cases like this.
bool named_by(const ClaimRow& claim, const Case& work) {
  return (!claim.sequence_length || *claim.sequence_length == work.sequence_length) &&
         (!claim.ring_size || *claim.ring_size == work.ring_size);
}

// What such a claim does not state, and what it does.
std::string left_open(const ClaimRow& claim) {
  return claim.ring_size ? "states no segments or dilations" : "states no configuration";
}
std::string named_text(const ClaimRow& claim) {
  if (!claim.ring_size) return "";
  return fmt::format(" of {} positions on {} ranks", claim.sequence_length.value_or(0), *claim.ring_size);
}

}  // namespace

void compare_times(ClaimAnswer& answer, const ClaimRecords& records, TimeRatio ratio) {
  const auto of = [&](const Record* a, const Record* b) -> std::optional<Measured> {
    return a != nullptr && b != nullptr ? time_ratio(*a, *b) : std::nullopt;
  };
  if (records.against != nullptr && records.variant != nullptr)
    answer.measured = ratio(*records.against, *records.variant, 0);
  if (answer.measured && records.variant->permute_ns)
    answer.with_permutation = ratio(*records.against, *records.variant, *records.variant->permute_ns);
  answer.beside = of(records.against, records.beside);
  answer.random = of(records.against, records.random);
  answer.against_random = of(records.random, records.variant);
  answer.against_control = of(records.control, records.variant);
  if (answer.against_control) answer.control_name = records.control->variant_id;
}

ClaimAnswer answer_in_case(const ClaimRow& claim, const CaseView& view) {
  ClaimAnswer answer{.claim = &claim, .where = &view, .dtype = view.work->dtype};
  answer.other_dtype = claim.work && claim.work->dtype != view.work->dtype;
  const ClaimRecords records = claim_records(view, claim.compared);
  answer.record = records.variant;
  if (claim.quantity == Quantity::speedup) answer_times_in(answer, records);
  if (claim.quantity == Quantity::cache_lines) answer_caches_in(answer, records);
  if (claim.quantity == Quantity::memory) answer_memory_in(answer, records);
  if (const std::string remark = dtype_remark(answer); !remark.empty())
    answer.why += (answer.why.empty() ? "" : "; ") + remark;
  return answer;
}

ClaimAnswer answer_over_cases(const ClaimRow& claim, const View& view, Dtype dtype) {
  ClaimAnswer answer{.claim = &claim, .dtype = dtype};
  answer.why =
      fmt::format("{}, and no case here{} has both {} and {} order", left_open(claim), named_text(claim),
                  order_or_id(claim.compared.against), order_or_id(claim.compared.variant));
  if (claim.ring_size) answer.why = "not tested here: " + answer.why + "; `hilbench predict` projects it";
  std::vector<ClaimAnswer> cases;
  std::vector<Measured> measured, random, against_random, controls, lines;
  std::map<const MissLevel*, std::vector<LevelAnswer>> levels;
  for (const CaseView& of_case : view.cases) {
    if (of_case.work->dtype != dtype || !named_by(claim, *of_case.work)) continue;
    ClaimAnswer one = answer_in_case(claim, of_case);
    if (!one.measured) continue;
    measured.push_back(*one.measured);
    if (one.random) random.push_back(*one.random);
    if (one.against_random) against_random.push_back(*one.against_random);
    if (one.against_control) controls.push_back(*one.against_control);
    if (one.against_control) answer.control_name = one.control_name;
    const ClaimRecords records = claim_records(of_case, claim.compared);
    if (const auto count = counter_ratio(*records.against, *records.variant, kLinesCounter))
      lines.push_back(*count);
    for (const LevelAnswer& level : one.levels) levels[level.level].push_back(level);
    cases.push_back(std::move(one));
  }
  if (cases.empty()) return answer;
  answer.why = fmt::format(
      "{}: over the {} here{}", left_open(claim),
      cases.size() == 1 ? std::string("one case") : fmt::format("{} cases", cases.size()), named_text(claim));
  if (claim.quantity != Quantity::cache_lines) {
    answer.measured = over_all(measured);
    answer.random = over_all(random);
    answer.against_random = over_all(against_random);
    if (controls.size() == measured.size()) answer.against_control = over_all(controls);
    settle(answer);
    return answer;
  }
  const std::string where = answer.why;
  for (const MissLevel& level : miss_levels())
    if (const auto found = levels.find(&level); found != levels.end())
      answer.levels.push_back(over_cases(*claim.claimed, found->second));
  answer_caches(answer, over_all(lines), *claim_records(*cases.front().where, claim.compared).against);
  answer.why = where + ", " + answer.why;
  return answer;
}

}  // namespace hilbench
