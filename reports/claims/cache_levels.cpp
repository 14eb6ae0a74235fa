#include "reports/claims/cache_levels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "reports/records/counts.hpp"
#include "reports/records/verdicts.hpp"

namespace hilbench {
namespace {

// With less than one miss in a thousand reads the cache holds everything, and a ratio of
// misses means nothing.
constexpr double kLeastMissShare = 0.001;

std::string_view reads_name(const MissLevel& level, const Record& record) {
  for (const std::string_view name : level.reads)
    if (counter_value(record, name)) return name;
  return level.reads.front();
}

std::string missing(const Record& record, std::string_view name) {
  const Counter* counter = find_counter(record, name);
  return fmt::format("{} of {}: {}", name, record.variant_id,
                     counter && !counter->reason.empty() ? counter->reason : "not counted");
}

std::vector<double> counts_of(const Record& record, std::string_view name) {
  const Counter* counter = find_counter(record, name);
  return counter == nullptr || !counter->value ? std::vector<double>() : counts_of(*counter);
}

// Misses of every count. If reads and hit rate were not counted equally often, one count by their values.
std::vector<double> each_count(const MissLevel& level, const Record& record, std::string_view reads) {
  if (!level.misses.empty()) return counts_of(record, level.misses);
  std::vector<double> misses = counts_of(record, reads);
  const std::vector<double> rates = counts_of(record, level.hit_rate);
  if (misses.size() != rates.size())
    return {*counter_value(record, reads) * (1 - *counter_value(record, level.hit_rate))};
  for (std::size_t i = 0; i < misses.size(); ++i) misses[i] *= 1 - rates[i];
  return misses;
}

// The count, or nothing and the reason in `why`.
std::optional<LevelCount> count_at(const MissLevel& level, const Record& record, std::string& why) {
  LevelCount count;
  const std::string_view reads = reads_name(level, record);
  count.reads = counter_value(record, reads);
  const std::string_view deciding = level.misses.empty() ? level.hit_rate : level.misses;
  const auto value = counter_value(record, deciding);
  if (!value || (level.misses.empty() && !count.reads)) {
    why = missing(record, value ? reads : deciding);
    return std::nullopt;
  }
  count.each = each_count(level, record, reads);
  count.misses = median(count.each);
  count.counters =
      level.misses.empty() ? fmt::format("{} x (1 - {})", reads, deciding) : std::string(deciding);
  const Counter& counter = *find_counter(record, deciding);
  count.source = counter.source;
  count.passes = counter.passes;
  return count;
}

// Why two counts give no ratio; empty if they give one.
std::string no_ratio(const LevelCount& against, const LevelCount& variant) {
  const auto negligible = [](const LevelCount& count) {
    const bool none =
        std::any_of(count.each.begin(), count.each.end(), [](double misses) { return misses <= 0; });
    return none || (count.reads && count.misses < kLeastMissShare * *count.reads);
  };
  if (!negligible(against) && !negligible(variant)) return "";
  const LevelCount& least = negligible(against) ? against : variant;
  return fmt::format("{:.0f} misses{}: the cache holds everything", std::max(least.misses, 0.0),
                     least.reads ? fmt::format(" in {:.0f} reads", *least.reads) : "");
}

// Misses of `other` / of `variant`. Without enough counts the ratio has no interval and no verdict.
Measured ratio_of_counts(const LevelCount& other, const LevelCount& variant, double margin) {
  const std::size_t counts = std::min(other.each.size(), variant.each.size());
  if (counts < kFewestCounts)
    return {other.misses / variant.misses, kUnknownInterval, 1, Verdict::inconclusive, margin};
  const Effect effect = count_effect(other.each, variant.each);
  const Ratio ratio = ratio_of(effect);
  return {ratio.value, ratio.ci, counts, verdict_of(effect, margin), margin};
}

std::string too_few_counts(const LevelAnswer& answer) {
  if (answer.counts >= kFewestCounts) return "";
  const std::string often =
      answer.counts == 1 ? "counted once" : fmt::format("counted {} times", answer.counts);
  return fmt::format("{}; a verdict needs {} counts", often, kFewestCounts);
}

void add_control(LevelAnswer& answer, const Record* control) {
  std::string why;
  if (control != nullptr) answer.control = count_at(*answer.level, *control, why);
  if (!answer.control || !no_ratio(*answer.control, *answer.variant).empty()) return;
  answer.control_name = control->variant_id;
  answer.against_control = ratio_of_counts(*answer.control, *answer.variant, answer.measured->margin);
  answer.to_control = {1 / answer.against_control->ratio};
}

void set_verdict(LevelAnswer& answer, double claimed) {
  const auto& control = answer.against_control;
  answer.verdict =
      judge_claim(claimed, *answer.measured, control ? std::optional(control->verdict) : std::nullopt);
}

LevelAnswer answer_level(const MissLevel& level, double claimed, const ClaimRecords& records) {
  LevelAnswer answer{.level = &level};
  answer.against = count_at(level, *records.against, answer.why);
  if (answer.against) answer.variant = count_at(level, *records.variant, answer.why);
  if (!answer.variant) return answer;
  answer.why = no_ratio(*answer.against, *answer.variant);
  if (!answer.why.empty()) return answer;
  const double margin = std::max(records.against->margin, records.variant->margin);
  answer.counts = std::min(answer.against->each.size(), answer.variant->each.size());
  answer.measured = ratio_of_counts(*answer.against, *answer.variant, margin);
  answer.to_against = {1 / answer.measured->ratio};
  add_control(answer, records.control);
  set_verdict(answer, claimed);
  answer.why = too_few_counts(answer);
  return answer;
}

// "-0.3 %", "-24.1 to +1.2 %": change of misses against the other order.
std::string change_text(const std::vector<double>& ratios) {
  const auto [low, high] = std::minmax_element(ratios.begin(), ratios.end());
  const std::string least = fmt::format("{:+.1f}", (*low - 1) * 100);
  const std::string most = fmt::format("{:+.1f}", (*high - 1) * 100);
  return least == most ? least + " %" : fmt::format("{} to {} %", least, most);
}

bool confirms(ClaimVerdict verdict) {
  return verdict == ClaimVerdict::reproduced || verdict == ClaimVerdict::smaller_than_claimed;
}

}  // namespace

const std::vector<MissLevel>& miss_levels() {
  static const std::vector<MissLevel> kLevels = {
      {"L2",
       DeviceKind::cuda,
       {"l2_read_requests", "l2_read_sectors"},
       "",
       "l2_read_hit_rate",
       "reads by the multiprocessors that missed in every slice of the L2 and waited for device memory"},
      {"L1",
       DeviceKind::cuda,
       {},
       "l2_read_sectors",
       "",
       "sectors that the multiprocessors requested from the L2, by load, cp.async or TMA, because the L1 did "
       "not have them. The hit rate of the L1 is not used: it leaves out TMA and includes loads of the table "
       "of slots"},
      {"last-level cache",
       DeviceKind::cpu,
       {"llc_reads"},
       "llc_read_misses",
       "",
       "reads that waited for memory"},
      {"L1", DeviceKind::cpu, {"l1d_reads"}, "l1d_read_misses", "", "reads that missed in the L1 data cache"},
  };
  return kLevels;
}

std::vector<LevelAnswer> answer_levels(double claimed, const ClaimRecords& records) {
  std::vector<LevelAnswer> answers;
  for (const MissLevel& level : miss_levels())
    if (level.device == records.against->work.device)
      answers.push_back(answer_level(level, claimed, records));
  return answers;
}

LevelAnswer over_cases(double claimed, const std::vector<LevelAnswer>& answers) {
  LevelAnswer all{.level = answers.front().level, .why = answers.front().why};
  std::vector<Measured> measured, controls;
  for (const LevelAnswer& one : answers) {
    if (!one.measured) continue;
    measured.push_back(*one.measured);
    all.to_against.push_back(one.to_against.front());
    if (one.against_control) {
      controls.push_back(*one.against_control);
      all.to_control.push_back(one.to_control.front());
      all.control_name = one.control_name;
    }
    all.why = one.why;
    all.counts = all.counts == 0 ? one.counts : std::min(all.counts, one.counts);
    all.variant = one.variant;  // for the way it was counted; counts of several cases do not add up
    all.variant->misses = std::numeric_limits<double>::quiet_NaN();
    all.variant->each.clear();
  }
  if (measured.empty()) return all;
  all.measured = over_all(measured);
  if (controls.size() == measured.size()) all.against_control = over_all(controls);
  set_verdict(all, claimed);
  return all;
}

ClaimVerdict combined(const std::vector<LevelAnswer>& levels) {
  std::vector<ClaimVerdict> verdicts;
  for (const LevelAnswer& level : levels)
    if (level.measured) verdicts.push_back(level.verdict);
  if (verdicts.empty()) return ClaimVerdict::not_testable;
  const auto confirmed = std::count_if(verdicts.begin(), verdicts.end(), confirms);
  const bool all_or_none = confirmed == 0 || confirmed == static_cast<std::ptrdiff_t>(verdicts.size());
  if (all_or_none && verdicts.front() != ClaimVerdict::excluded) return verdicts.front();
  const bool excluded = std::none_of(verdicts.begin(), verdicts.end(), may_hold);
  return excluded ? ClaimVerdict::excluded : ClaimVerdict::inconclusive;
}

std::string level_text(const LevelAnswer& answer, std::string_view against) {
  const std::string name = fmt::format("{} read misses", answer.level->name);
  if (!answer.measured) return fmt::format("{}: not judged ({})", name, answer.why);
  const std::size_t cases = answer.to_against.size();
  std::string text = fmt::format("{} {} against {}", name, change_text(answer.to_against), against);
  if (!answer.to_control.empty())
    text += fmt::format(", {} against {}", change_text(answer.to_control), answer.control_name);
  if (cases > 1) text += fmt::format(" ({} cases)", cases);
  text += fmt::format(": {}", to_string(answer.verdict));
  return answer.why.empty() ? text : text + fmt::format(" ({})", answer.why);
}

}  // namespace hilbench
