#include "reports/claims/cache_levels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "reports/records/stats.hpp"

namespace hilbench {
namespace {

// Measured on an H200: counts of one variant in separate processes differed by up to 9.4 % at the L2 and by
// up to 0.7 % at the L1.
constexpr double kMemoryLevelSpread = 0.1;
constexpr double kFirstLevelSpread = 0.02;
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
  count.misses = level.misses.empty() ? *count.reads * (1 - *value) : *value;
  count.counters =
      level.misses.empty() ? fmt::format("{} x (1 - {})", reads, deciding) : std::string(deciding);
  const Counter& counter = *find_counter(record, deciding);
  count.source = counter.source;
  count.passes = counter.passes;
  return count;
}

// Why two counts give no ratio; empty if they give one.
std::string no_ratio(const LevelCount& standard, const LevelCount& hilbert) {
  const auto negligible = [](const LevelCount& count) {
    return count.misses <= 0 || (count.reads && count.misses < kLeastMissShare * *count.reads);
  };
  if (!negligible(standard) && !negligible(hilbert)) return "";
  const LevelCount& least = negligible(standard) ? standard : hilbert;
  return fmt::format("{:.0f} misses{}: the cache holds everything", std::max(least.misses, 0.0),
                     least.reads ? fmt::format(" in {:.0f} reads", *least.reads) : "");
}

LevelAnswer answer_level(const MissLevel& level, double claimed, const Record& standard,
                         const Record& hilbert, const Record* control) {
  LevelAnswer answer{.level = &level};
  answer.standard = count_at(level, standard, answer.why);
  if (answer.standard) answer.hilbert = count_at(level, hilbert, answer.why);
  if (!answer.hilbert) return answer;
  if (!control) {
    answer.why = "random order was not counted, so a difference may be chance";
    return answer;
  }
  answer.control = count_at(level, *control, answer.why);
  if (!answer.control) return answer;
  answer.why = no_ratio(*answer.standard, *answer.hilbert);
  if (answer.why.empty()) answer.why = no_ratio(*answer.control, *answer.hilbert);
  if (!answer.why.empty()) return answer;
  const double against_standard = answer.standard->misses / answer.hilbert->misses;
  const double against_control = answer.control->misses / answer.hilbert->misses;
  answer.to_standard = {1 / against_standard};
  answer.to_control = {1 / against_control};
  const auto [low, high] = std::minmax(against_standard, against_control);
  answer.measured = Measured{against_standard, {low * (1 - level.spread), high * (1 + level.spread)}, 0};
  answer.verdict = judge(claimed, answer.measured->ci);
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
       kMemoryLevelSpread,
       "reads by the multiprocessors that missed in every slice of the L2 and waited for device memory"},
      {"L1",
       DeviceKind::cuda,
       {},
       "l2_read_sectors",
       "",
       kFirstLevelSpread,
       "sectors that the multiprocessors requested from the L2, by load, cp.async or TMA, because the L1 did "
       "not have them. The hit rate of the L1 is not used: it leaves out TMA and includes loads of the table "
       "of slots"},
      {"last-level cache",
       DeviceKind::cpu,
       {"llc_reads"},
       "llc_read_misses",
       "",
       kMemoryLevelSpread,
       "reads that waited for memory"},
      {"L1",
       DeviceKind::cpu,
       {"l1d_reads"},
       "l1d_read_misses",
       "",
       kFirstLevelSpread,
       "reads that missed in the L1 data cache"},
  };
  return kLevels;
}

std::vector<LevelAnswer> answer_levels(double claimed, const Record& standard, const Record& hilbert,
                                       const Record* control) {
  std::vector<LevelAnswer> answers;
  for (const MissLevel& level : miss_levels())
    if (level.device == standard.work.device)
      answers.push_back(answer_level(level, claimed, standard, hilbert, control));
  return answers;
}

LevelAnswer over_cases(double claimed, const std::vector<LevelAnswer>& answers) {
  LevelAnswer all{.level = answers.front().level, .why = answers.front().why};
  std::vector<double> ratios;
  Interval range;
  for (const LevelAnswer& one : answers) {
    if (!one.measured) continue;
    range = ratios.empty() ? one.measured->ci
                           : Interval{std::min(range.low, one.measured->ci.low),
                                      std::max(range.high, one.measured->ci.high)};
    ratios.push_back(one.measured->ratio);
    all.to_standard.push_back(one.to_standard.front());
    all.to_control.push_back(one.to_control.front());
    all.hilbert = one.hilbert;  // for the way it was counted; counts of several cases do not add up
    all.hilbert->misses = std::numeric_limits<double>::quiet_NaN();
  }
  if (ratios.empty()) return all;
  all.why.clear();
  all.measured = Measured{median(ratios), range, 0};
  all.verdict = judge(claimed, range);
  return all;
}

ClaimVerdict combined(const std::vector<LevelAnswer>& levels) {
  std::vector<ClaimVerdict> verdicts;
  for (const LevelAnswer& level : levels)
    if (level.measured) verdicts.push_back(level.verdict);
  if (verdicts.empty()) return ClaimVerdict::not_testable;
  const auto confirmed = std::count_if(verdicts.begin(), verdicts.end(), confirms);
  const bool all_or_none = confirmed == 0 || confirmed == static_cast<std::ptrdiff_t>(verdicts.size());
  return all_or_none ? verdicts.front() : ClaimVerdict::mixed;
}

std::string level_text(const LevelAnswer& answer) {
  const std::string name = fmt::format("{} read misses", answer.level->name);
  if (!answer.measured) return fmt::format("{}: not judged ({})", name, answer.why);
  const std::size_t cases = answer.to_standard.size();
  return fmt::format("{} {} against linear, {} against random{}: {}", name, change_text(answer.to_standard),
                     change_text(answer.to_control), cases > 1 ? fmt::format(" ({} cases)", cases) : "",
                     to_string(answer.verdict));
}

}  // namespace hilbench
