#include "reports/view/pairing.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "reports/records/verdicts.hpp"
#include "reports/view/margins.hpp"

namespace hilbench {
namespace {

bool timed(const Record& record) {
  return record.status == Status::ok && record.time && record.time->median_ns > 0;
}

bool undisturbed(const Record& a, const Record& b) {
  return timed(a) && timed(b) && foreign_processes(a) + foreign_processes(b) == 0;
}

bool complete(const Timing& time) {
  const std::int64_t rounds =
      std::accumulate(time.process_rounds.begin(), time.process_rounds.end(), std::int64_t{0});
  return !time.samples_ns.empty() &&
         (time.process_rounds.empty() || rounds == static_cast<std::int64_t>(time.samples_ns.size()));
}

Rounds rounds_of(const Timing& time, double added_ns = 0) {
  Rounds rounds{time.samples_ns, time.process_rounds};
  for (double& ns : rounds.ns) ns += added_ns;
  return rounds;
}

Measured measured_of(const Effect& effect, double margin) {
  const Ratio ratio = ratio_of(effect);
  return {ratio.value, ratio.ci, effect.processes, verdict_of(effect, margin), margin, ""};
}

}  // namespace

double common_margin(const Record& a, const Record& b) {
  const auto of = [](const Record& record) {
    return record.speedup ? record.speedup->margin : record.margin;
  };
  return std::max(of(a), of(b));
}

std::optional<Effect> time_effect(const Record& reference, const Record& variant, double added_ns) {
  if (!undisturbed(reference, variant)) return std::nullopt;
  const Timing &a = *reference.time, &b = *variant.time;
  if (!complete(a) || a.samples_ns.size() != b.samples_ns.size() || a.process_rounds != b.process_rounds)
    return std::nullopt;
  return paired_effect(rounds_of(a), rounds_of(b, added_ns));
}

std::optional<Measured> time_ratio(const Record& reference, const Record& variant, double added_ns) {
  const auto& speedup = variant.speedup;
  if (added_ns == 0 && speedup && speedup->against == reference.variant_id && undisturbed(reference, variant))
    return speedup;
  const std::optional<Effect> effect = time_effect(reference, variant, added_ns);
  if (!effect) return std::nullopt;
  return measured_of(*effect, common_margin(reference, variant));
}

std::optional<Measured> chained_time_ratio(const Record& reference, const Record& variant) {
  if (!time_effect(reference, variant)) return std::nullopt;
  return measured_of(additive_effect(rounds_of(*reference.time), rounds_of(*variant.time)),
                     common_margin(reference, variant));
}

std::optional<Measured> unpaired_time_ratio(const Record& reference, const Record& variant, double added_ns) {
  if (!undisturbed(reference, variant) || !complete(*reference.time) || !complete(*variant.time))
    return std::nullopt;
  return measured_of(unpaired_effect(rounds_of(*reference.time), rounds_of(*variant.time, added_ns)),
                     common_margin(reference, variant));
}

Measured exact_ratio(double ratio) {
  return {ratio, {ratio, ratio}, 0, verdict_of_exact(ratio, kDefaultMargin), kDefaultMargin, ""};
}

std::optional<Measured> over_all(const std::vector<Measured>& each) {
  if (each.empty()) return std::nullopt;
  Measured all = each.front();
  std::vector<double> ratios;
  for (const Measured& one : each) {
    ratios.push_back(one.ratio);
    const bool known = std::isfinite(all.ci.low) && std::isfinite(one.ci.low);
    all.ci = known ? Interval{std::min(all.ci.low, one.ci.low), std::max(all.ci.high, one.ci.high)}
                   : kUnknownInterval;
    all.processes = std::min(all.processes, one.processes);
    all.margin = std::max(all.margin, one.margin);
    if (one.verdict != all.verdict) all.verdict = Verdict::inconclusive;
  }
  all.ratio = median(ratios);
  return all;
}

std::optional<Measured> counter_ratio(const Record& reference, const Record& variant,
                                      const std::string& name) {
  const auto a = counter_value(reference, name), b = counter_value(variant, name);
  if (!a || !b || *a <= 0 || *b <= 0) return std::nullopt;
  return exact_ratio(*a / *b);
}

std::optional<Measured> counted_ratio(const Record& reference, const Record& variant,
                                      const std::string& name) {
  const std::optional<Measured> exact = counter_ratio(reference, variant, name);
  if (!exact) return std::nullopt;
  const std::vector<double>&a = find_counter(reference, name)->counts,
        &b = find_counter(variant, name)->counts;
  const auto positive = [](double count) { return count > 0; };
  if (a.size() < 2 || b.size() < 2 || !std::ranges::all_of(a, positive) || !std::ranges::all_of(b, positive))
    return exact;
  return measured_of(count_effect(a, b), common_margin(reference, variant));
}

std::optional<Measured> memory_ratio(const Record& reference, const Record& variant) {
  if (reference.status != Status::ok || variant.status != Status::ok) return std::nullopt;
  if (!reference.memory_bytes || !variant.memory_bytes) return std::nullopt;
  if (*reference.memory_bytes <= 0 || *variant.memory_bytes <= 0) return std::nullopt;
  return exact_ratio(*reference.memory_bytes / *variant.memory_bytes);
}

std::string verdict_words(Verdict verdict, std::size_t processes, double margin) {
  std::string words(to_string(verdict));
  if (verdict == Verdict::equivalent) words += " within " + margin_text(margin);
  const bool judged = verdict != Verdict::different_function;
  return judged && processes == 1 ? words + ", within one process" : words;
}

}  // namespace hilbench
