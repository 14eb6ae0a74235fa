#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "harness/stats.hpp"
#include "reports/compare.hpp"
#include "reports/format.hpp"

namespace hilbench {
namespace {

constexpr const char* kLinesCounter = "layout_lines_64_per_tile";

std::string missing_reason(const Record* record, const char* name) {
  if (!record) return fmt::format("no {} record of this case", name);
  if (record->status != Status::ok) return fmt::format("{} is {}", name, to_string(record->status));
  if (foreign_processes(*record) > 0) return "another process used the GPU meanwhile";
  return "";
}

// Why a pair of records gives no ratio.
std::string no_pair(const Quartet& quartet, const char* lacking) {
  std::string why = missing_reason(quartet.standard, "dilated/linear");
  if (why.empty()) why = missing_reason(quartet.hilbert, "dilated/hilbert with the claimed chunk");
  return why.empty() ? std::string(lacking) : why;
}

std::string why_no_ratio(const Record& a, const Record& b) {
  return foreign_processes(a) + foreign_processes(b) > 0 ? "another process used the GPU meanwhile"
                                                         : "the two have no paired times";
}

// The verdict that the interval gives, and what a single process leaves open.
void settle(ClaimAnswer& answer) {
  if (!answer.measured) return;
  answer.verdict = judge(*answer.claim->claimed, answer.measured->ci);
  if (answer.measured->processes > 0 && !sign_settled(answer.measured->ci, answer.measured->processes))
    answer.why += std::string(answer.why.empty() ? "" : "; ") + std::string(kUnsettled);
}

// "claimed 28.0 % fewer": what a ratio standard / hilbert says of misses.
std::string claimed_fewer(const ClaimRow& claim) {
  const auto percent = [](double ratio) { return fmt::format("{:.0f}", (1 - 1 / ratio) * 100); };
  if (!claim.claimed_range) return fmt::format("claimed {} % fewer", percent(*claim.claimed));
  return fmt::format("claimed {} to {} % fewer", percent(claim.claimed_range->low),
                     percent(claim.claimed_range->high));
}

std::string lines_text(const std::optional<Measured>& lines) {
  return lines
             ? fmt::format("the layout's own count of 64-byte lines: {:+.1f} %", (1 / lines->ratio - 1) * 100)
             : "no layout counts";
}

// How the counts were made: backend, state of the caches, executions.
std::string counting_text(const LevelAnswer& level, const Record& record) {
  const LevelCount& count = *level.hilbert;
  return fmt::format("{}, {} caches, one execution a pass, {} pass{}", count.source, record.cache,
                     count.passes, count.passes == 1 ? "" : "es");
}

// The verdict of the levels that have counters, else of the layout's own count. `record`: any of those
// counted.
void answer_caches(ClaimAnswer& answer, const std::optional<Measured>& lines, const Record& record) {
  answer.verdict = combined(answer.levels);
  std::vector<std::string> said, unread;
  const LevelAnswer* outermost = nullptr;
  for (const LevelAnswer& level : answer.levels) {
    if (level.measured && !outermost) outermost = &level;
    (level.measured ? said : unread).push_back(level_text(level));
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
  if (lines) answer.verdict = judge(*answer.claim->claimed, lines->ci);
  answer.why =
      lines ? fmt::format("{}; {}, exact, a count of the layout and not of a cache; no hardware counters: {}",
                          claimed_fewer(*answer.claim), lines_text(lines), why)
            : fmt::format("no counters: {}", why);
}

void answer_caches_in(ClaimAnswer& answer, const Quartet& quartet) {
  answer.why = no_pair(quartet, "");
  if (!answer.why.empty()) return;
  const Record* control = missing_reason(quartet.random, "").empty() ? quartet.random : nullptr;
  answer.levels = answer_levels(*answer.claim->claimed, *quartet.standard, *quartet.hilbert, control);
  answer_caches(answer, counter_ratio(*quartet.standard, *quartet.hilbert, kLinesCounter), *quartet.standard);
}

void answer_times_in(ClaimAnswer& answer, const Quartet& quartet) {
  const bool both = quartet.standard && quartet.hilbert;
  if (both) answer.measured = time_ratio(*quartet.standard, *quartet.hilbert);
  if (!answer.measured) answer.why = no_pair(quartet, "the two have no paired times");
  if (answer.measured && quartet.hilbert->permute_ns)
    answer.with_permutation = time_ratio(*quartet.standard, *quartet.hilbert, *quartet.hilbert->permute_ns);
  if (quartet.standard && quartet.tokens) answer.tokens = time_ratio(*quartet.standard, *quartet.tokens);
  if (quartet.standard && quartet.random) answer.control = time_ratio(*quartet.standard, *quartet.random);
  settle(answer);
}

void answer_memory_in(ClaimAnswer& answer, const Quartet& quartet) {
  if (quartet.standard && quartet.hilbert)
    answer.measured = memory_ratio(*quartet.standard, *quartet.hilbert);
  answer.why = answer.measured ? "bytes that each variant holds, permuted copies and index counted in"
                               : no_pair(quartet, "no memory figures in the records");
  settle(answer);
}

ClaimAnswer answer_in_case(const ClaimRow& claim, const CaseView& view) {
  ClaimAnswer answer{.claim = &claim, .where = &view};
  const Quartet quartet = quartet_of(view, claim.order_chunk);
  if (claim.quantity == Quantity::speedup) answer_times_in(answer, quartet);
  if (claim.quantity == Quantity::cache_lines) answer_caches_in(answer, quartet);
  if (claim.quantity == Quantity::memory) answer_memory_in(answer, quartet);
  if (claim.work && claim.work->dtype != view.work->dtype)
    answer.why +=
        fmt::format("{}measured in {}, {} {}", answer.why.empty() ? "" : "; ", to_string(view.work->dtype),
                    claim.names_dtype ? "claimed in" : "we assumed", to_string(claim.work->dtype));
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
  int below = 0, above = 0, above_faster = 0, against = 0, unsettled = 0;
  std::vector<std::string> seen;
  for (const CaseView& of_case : view.cases) {
    const Quartet quartet = quartet_of(of_case, claim.order_chunk);
    if (!quartet.standard || !quartet.hilbert) continue;
    const auto ratio = time_ratio(*quartet.standard, *quartet.hilbert);
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
  if (unsettled > 0) answer.why += fmt::format("; {} of the cases {}", unsettled, kUnsettled);
  return answer;
}

// One ratio for many cases: the median, and an interval that reaches over all of theirs.
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

// Whether a claim that names no pattern means cases like this.
bool named_by(const ClaimRow& claim, const Case& work) {
  return (!claim.sequence_length || *claim.sequence_length == work.sequence_length) &&
         (!claim.ring_size || *claim.ring_size == work.ring_size);
}

// What such a claim leaves open, and what it names.
std::string left_open(const ClaimRow& claim) {
  return claim.ring_size ? "states no segments or dilations" : "states no configuration";
}
std::string named_text(const ClaimRow& claim) {
  if (!claim.ring_size) return "";
  return fmt::format(" of {} positions on {} ranks", claim.sequence_length.value_or(0), *claim.ring_size);
}

// A claim that states no pattern is held to all cases of the store together: it must hold in each.
ClaimAnswer answer_over_cases(const ClaimRow& claim, const View& view) {
  ClaimAnswer answer{.claim = &claim};
  answer.why =
      fmt::format("{}, and no case here{} holds linear and hilbert", left_open(claim), named_text(claim));
  if (claim.ring_size) answer.why = "not tested here: " + answer.why + "; `hilbench predict` projects it";
  std::vector<ClaimAnswer> cases;
  std::vector<Measured> measured, controls, lines;
  std::map<const MissLevel*, std::vector<LevelAnswer>> levels;
  for (const CaseView& of_case : view.cases) {
    if (!named_by(claim, *of_case.work)) continue;
    ClaimAnswer one = answer_in_case(claim, of_case);
    if (!one.measured) continue;
    measured.push_back(*one.measured);
    if (one.control) controls.push_back(*one.control);
    const Quartet quartet = quartet_of(of_case, claim.order_chunk);
    if (const auto count = counter_ratio(*quartet.standard, *quartet.hilbert, kLinesCounter))
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
    answer.control = over_all(controls);
    settle(answer);
    return answer;
  }
  const std::string where = answer.why;
  for (const MissLevel& level : miss_levels())
    if (const auto found = levels.find(&level); found != levels.end())
      answer.levels.push_back(over_cases(*claim.claimed, found->second));
  answer_caches(answer, over_all(lines), *quartet_of(*cases.front().where, claim.order_chunk).standard);
  answer.why = where + ", " + answer.why;
  return answer;
}

// Linear order with the ring options of `hilbert`; beside an order of the whole sequence also that of shards,
// which sends as many rows.
const Record* linear_twin(const CaseView& of_case, const Record& hilbert) {
  const auto twin_of = [&](OrderSpan span) -> const Record* {
    VariantSpec wanted = hilbert.variant;
    wanted.order = "linear";
    wanted.order_param.reset();
    wanted.order_span = span;
    for (const Record* record : of_case.records) {
      VariantSpec spec = record->variant;
      spec.order_chunk = wanted.order_chunk, spec.chunk_in_id = wanted.chunk_in_id;
      if (record->kind == RecordKind::kernel && record->status == Status::ok && spec == wanted) return record;
    }
    return nullptr;
  };
  const Record* same = twin_of(hilbert.variant.order_span);
  return same != nullptr ? same : twin_of(OrderSpan::shard);
}

// Bytes that the transport counted: exact, so that the interval reaches over the rings compared.
ClaimAnswer answer_communication(const ClaimRow& claim, const View& view) {
  ClaimAnswer answer{.claim = &claim};
  std::vector<Measured> ratios;
  std::vector<double> packed;  // packed rows over whole shards, either order
  for (const CaseView& of_case : view.cases)
    for (const Record* record : of_case.records) {
      if (of_case.work->ring_size == 1 || record->status != Status::ok || !record->comm_bytes) continue;
      VariantSpec whole = record->variant;
      whole.ring_algorithm = RingAlgorithm::automatic;
      for (const Record* other : of_case.records)
        if (record->variant.ring_algorithm == RingAlgorithm::ring_packed && other->variant == whole &&
            other->comm_bytes.value_or(0) > 0)
          packed.push_back(*record->comm_bytes / *other->comm_bytes);
      if (record->kind != RecordKind::kernel || record->variant.order != "hilbert" ||
          *record->comm_bytes <= 0)
        continue;
      const Record* linear = linear_twin(of_case, *record);
      if (linear == nullptr || linear->comm_bytes.value_or(0) <= 0) continue;
      const double ratio = *linear->comm_bytes / *record->comm_bytes;
      ratios.push_back({ratio, {ratio, ratio}, 0});
    }
  if (ratios.empty()) {
    answer.why = "not tested here: no ring of several ranks that sends anything holds linear and hilbert";
    return answer;
  }
  answer.measured = over_all(ratios);
  settle(answer);
  answer.why =
      fmt::format("bytes that the transport counted, hilbert beside linear order in {} rings", ratios.size());
  if (!packed.empty()) {
    const auto [low, high] = std::minmax_element(packed.begin(), packed.end());
    answer.why += fmt::format("; packing rows by residue, in any order, sends {} to {} of whole shards",
                              number_text(*low, 3), number_text(*high, 3));
  }
  return answer;
}

// Memory of the devices that projections name, nominal.
std::optional<double> nominal_bytes(const std::string& device) {
  if (device == "gtx1080-8gb") return 0x1p33;
  if (device == "a100-80gb") return 80 * 0x1p30;
  return std::nullopt;
}

std::optional<double> device_bytes(const Record& record) {
  const nlohmann::json& environment = record.environment;
  if (!environment.is_object() || !environment.contains("device") || !environment["device"].is_object())
    return std::nullopt;
  const nlohmann::json& device = environment["device"];
  if (!device.contains("memory_bytes") || !device["memory_bytes"].is_number()) return std::nullopt;
  return device["memory_bytes"].get<double>();
}

// The longest sequence that ran on as many devices with as much memory, against the one claimed.
ClaimAnswer answer_longest(const ClaimRow& claim, const View& view) {
  constexpr double kSameMemory = 0.1;  // drivers keep some of the nominal size
  ClaimAnswer answer{.claim = &claim};
  const std::optional<double> wanted = nominal_bytes(claim.device);
  const CaseView* longest = nullptr;
  for (const CaseView& of_case : view.cases)
    for (const Record* record : of_case.records) {
      const std::optional<double> bytes = device_bytes(*record);
      const bool such_devices = wanted && bytes && std::abs(*bytes / *wanted - 1) < kSameMemory &&
                                of_case.work->ring_size == claim.ring_size.value_or(1);
      if (!such_devices || record->status != Status::ok || record->kind != RecordKind::kernel) continue;
      if (longest == nullptr || of_case.work->sequence_length > longest->work->sequence_length)
        longest = &of_case;
    }
  if (longest == nullptr) {
    answer.why =
        fmt::format("not tested here: needs {} x {}; `hilbench predict` tells what the memory plan says",
                    claim.ring_size.value_or(1), claim.device);
    return answer;
  }
  const auto length = static_cast<double>(longest->work->sequence_length);
  answer.where = longest;
  answer.measured = Measured{length, {length, length}, 0};
  answer.verdict = length >= *claim.claimed ? ClaimVerdict::reproduced : ClaimVerdict::smaller_than_claimed;
  answer.why = "longest sequence that ran on as many devices with as much memory; longer ones may fit";
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

std::vector<ClaimAnswer> answer_claims(const std::vector<ClaimRow>& claims, const View& view) {
  std::vector<ClaimAnswer> answers;
  for (const ClaimRow& claim : claims)
    for (ClaimAnswer& answer : answer_one(claim, view)) answers.push_back(std::move(answer));
  return answers;
}

}  // namespace hilbench
