#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "reports/compare.hpp"
#include "reports/format.hpp"

namespace hilbench {
namespace {

constexpr const char* kLinesCounter = "layout_lines_64_per_tile";

std::string missing_reason(const Record* record, const char* name) {
  if (!record) return fmt::format("no {} record of this case", name);
  if (record->status != Status::ok) return fmt::format("{} is {}", name, to_string(record->status));
  return "";
}

// Why a pair of records gives no ratio.
std::string no_pair(const Trio& trio, const char* lacking) {
  std::string why = missing_reason(trio.standard, "dilated/linear");
  if (why.empty()) why = missing_reason(trio.hilbert, "dilated/hilbert with the claimed chunk");
  return why.empty() ? std::string(lacking) : why;
}

const char* why_no_ratio(const Record& a, const Record& b) {
  return foreign_processes(a) + foreign_processes(b) > 0 ? "another process used the GPU meanwhile"
                                                         : "the two have no paired times";
}

void settle(ClaimAnswer& answer) {
  if (answer.measured) answer.verdict = judge(*answer.claim->claimed, answer.measured->ci);
}

// Hardware counters of the caches that both records hold, as ratios.
std::string hardware_text(const Trio& trio) {
  std::vector<std::string> parts;
  for (const auto& [name, counter] : trio.hilbert->counters) {
    if (counter.source == "layout" || counter.source == "measured") continue;
    if (name.find("miss") == std::string::npos) continue;
    if (const auto ratio = counter_ratio(*trio.standard, *trio.hilbert, name))
      parts.push_back(fmt::format("{} {}", name, number_text(ratio->ratio)));
  }
  return parts.empty() ? "no hardware counter here"
                       : fmt::format("hardware counters, linear / hilbert: {}", fmt::join(parts, ", "));
}

ClaimAnswer answer_in_case(const ClaimRow& claim, const CaseView& view) {
  ClaimAnswer answer{.claim = &claim, .where = &view};
  const Trio trio = trio_of(view, claim.order_chunk);
  const bool both = trio.standard && trio.hilbert;
  switch (claim.quantity) {
    case Quantity::speedup:
      if (both) answer.measured = time_ratio(*trio.standard, *trio.hilbert);
      if (!answer.measured)
        answer.why = no_pair(trio, both ? why_no_ratio(*trio.standard, *trio.hilbert) : "");
      if (answer.measured && trio.hilbert->permute_ns)
        answer.with_permutation = time_ratio(*trio.standard, *trio.hilbert, *trio.hilbert->permute_ns);
      if (trio.standard && trio.tokens) answer.tokens = time_ratio(*trio.standard, *trio.tokens);
      break;
    case Quantity::cache_lines:
      if (both) answer.measured = counter_ratio(*trio.standard, *trio.hilbert, kLinesCounter);
      answer.why = answer.measured ? "exact count of distinct 64-byte lines per tile; " + hardware_text(trio)
                                   : no_pair(trio, "no layout counters in the records");
      break;
    case Quantity::memory:
      if (both) answer.measured = memory_ratio(*trio.standard, *trio.hilbert);
      answer.why = answer.measured ? "bytes that each variant holds, permuted copies and index counted in"
                                   : no_pair(trio, "no memory figures in the records");
      break;
    default:
      break;
  }
  settle(answer);
  return answer;
}

// Fresh over pooled buffers, for every kernel variant that the case holds in both forms.
std::vector<ClaimAnswer> answer_buffers(const ClaimRow& claim, const View& view) {
  std::vector<ClaimAnswer> answers;
  for (const CaseView& of_case : view.cases) {
    std::map<std::string, const Record*> pooled;
    for (const Record* record : of_case.records)
      if (record->kind == RecordKind::kernel && record->variant.buffers == Buffers::pooled)
        pooled[record->variant_id] = record;
    for (const Record* fresh : of_case.records) {
      if (fresh->kind != RecordKind::kernel || fresh->variant.buffers != Buffers::fresh) continue;
      VariantSpec twin = fresh->variant;
      twin.buffers = Buffers::pooled;
      const auto found = pooled.find(variant_id(twin));
      if (found == pooled.end()) continue;
      ClaimAnswer answer{.claim = &claim, .where = &of_case};
      answer.measured = time_ratio(*fresh, *found->second);
      answer.why = answer.measured
                       ? fmt::format("{} over {}; the claim names no case", fresh->variant_id, found->first)
                       : why_no_ratio(*fresh, *found->second);
      settle(answer);
      answers.push_back(std::move(answer));
    }
  }
  if (answers.empty())
    answers.push_back(
        {.claim = &claim, .why = "needs one variant with buffers pooled and fresh in one case"});
  return answers;
}

// "Pays above c, costs below": every longer case faster and no shorter one.
ClaimAnswer answer_break_even(const ClaimRow& claim, const View& view) {
  ClaimAnswer answer{.claim = &claim};
  int below = 0, above = 0, above_faster = 0, against = 0;
  std::vector<std::string> seen;
  for (const CaseView& of_case : view.cases) {
    const Trio trio = trio_of(of_case, claim.order_chunk);
    if (!trio.standard || !trio.hilbert) continue;
    const auto ratio = time_ratio(*trio.standard, *trio.hilbert);
    if (!ratio) continue;
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
  return answer;
}

std::optional<Measured> ratio_for(Quantity quantity, const Trio& trio) {
  if (!trio.standard || !trio.hilbert) return std::nullopt;
  if (quantity == Quantity::speedup) return time_ratio(*trio.standard, *trio.hilbert);
  if (quantity == Quantity::memory) return memory_ratio(*trio.standard, *trio.hilbert);
  return counter_ratio(*trio.standard, *trio.hilbert, kLinesCounter);
}

// A claim that states no configuration is not judged, but what the store shows of its quantity is said.
std::string range_here(const ClaimRow& claim, const View& view) {
  if (claim.quantity == Quantity::other || !claim.configuration.empty()) return "";
  std::vector<double> ratios;
  for (const CaseView& of_case : view.cases)
    if (const auto ratio = ratio_for(claim.quantity, trio_of(of_case, claim.order_chunk)))
      ratios.push_back(ratio->ratio);
  if (ratios.empty()) return "";
  const auto [low, high] = std::minmax_element(ratios.begin(), ratios.end());
  const char* what = claim.quantity == Quantity::speedup  ? "kernel-time"
                     : claim.quantity == Quantity::memory ? "memory"
                                                          : "64-byte-line";
  const std::string least = number_text(*low), most = number_text(*high);
  return fmt::format("; the {} ratio of linear / hilbert is {} over the {} here", what,
                     least == most ? least : fmt::format("{} to {}", least, most),
                     ratios.size() == 1 ? "one case" : fmt::format("{} cases", ratios.size()));
}

std::vector<ClaimAnswer> answer_one(const ClaimRow& claim, const View& view) {
  if (!claim.untestable.empty())
    return {{.claim = &claim, .why = claim.untestable + range_here(claim, view)}};
  if (claim.quantity == Quantity::buffers) return answer_buffers(claim, view);
  if (claim.quantity == Quantity::break_even) return {answer_break_even(claim, view)};
  std::vector<ClaimAnswer> answers;
  for (const CaseView& of_case : view.cases)
    if (same_work(*claim.work, *of_case.work)) answers.push_back(answer_in_case(claim, of_case));
  if (answers.empty()) {
    const bool ring = claim.work->ring_size > 1;
    answers.push_back({.claim = &claim,
                       .why = ring ? fmt::format("needs a ring of {} ranks", claim.work->ring_size)
                                   : "no such case in this store"});
  }
  return answers;
}

}  // namespace

std::vector<ClaimAnswer> answer_claims(const std::vector<ClaimRow>& claims, const View& view) {
  std::vector<ClaimAnswer> answers;
  for (const ClaimRow& claim : claims)
    for (ClaimAnswer& answer : answer_one(claim, view)) answers.push_back(std::move(answer));
  return answers;
}

}  // namespace hilbench
