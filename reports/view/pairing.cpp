#include "reports/view/pairing.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "reports/records/stats.hpp"

namespace hilbench {
namespace {

constexpr std::uint64_t kBootstrapSeed = 1;

bool timed(const Record& record) {
  return record.status == Status::ok && record.time && record.time->median_ns > 0;
}

}  // namespace

std::optional<Measured> time_ratio(const Record& reference, const Record& variant, double added_ns) {
  if (!timed(reference) || !timed(variant)) return std::nullopt;
  if (foreign_processes(reference) + foreign_processes(variant) > 0) return std::nullopt;
  if (added_ns == 0 && variant.speedup && variant.speedup->against == reference.variant_id)
    return Measured{variant.speedup->ratio, variant.speedup->ci, variant.time->process_rounds.size()};
  const Timing &a = *reference.time, &b = *variant.time;
  const std::int64_t rounds =
      std::accumulate(a.process_rounds.begin(), a.process_rounds.end(), std::int64_t{0});
  const bool complete = a.process_rounds.empty() || rounds == static_cast<std::int64_t>(a.samples_ns.size());
  if (!complete || a.samples_ns.empty() || a.samples_ns.size() != b.samples_ns.size() ||
      a.process_rounds != b.process_rounds)
    return std::nullopt;
  Rounds slower{b.samples_ns, b.process_rounds};
  for (double& ns : slower.ns) ns += added_ns;
  const Ratio ratio = paired_ratio({a.samples_ns, a.process_rounds}, slower, kBootstrapSeed);
  return Measured{ratio.value, ratio.ci, b.process_rounds.size()};
}

std::optional<Measured> unpaired_time_ratio(const Record& reference, const Record& variant) {
  if (!timed(reference) || !timed(variant)) return std::nullopt;
  if (foreign_processes(reference) + foreign_processes(variant) > 0) return std::nullopt;
  const Timing &a = *reference.time, &b = *variant.time;
  if (a.ci_ns.low <= 0 || b.ci_ns.low <= 0) return std::nullopt;
  const auto both = [](double one, double other) {
    return std::exp(std::hypot(std::log(one), std::log(other)));
  };
  const double ratio = a.median_ns / b.median_ns;
  return Measured{ratio,
                  {ratio / both(a.median_ns / a.ci_ns.low, b.ci_ns.high / b.median_ns),
                   ratio * both(a.ci_ns.high / a.median_ns, b.median_ns / b.ci_ns.low)},
                  std::min(a.process_rounds.size(), b.process_rounds.size())};
}

std::optional<Measured> counter_ratio(const Record& reference, const Record& variant,
                                      const std::string& name) {
  const auto a = counter_value(reference, name), b = counter_value(variant, name);
  if (!a || !b || *a <= 0 || *b <= 0) return std::nullopt;
  const double ratio = *a / *b;
  return Measured{ratio, {ratio, ratio}, 0};
}

std::optional<Measured> memory_ratio(const Record& reference, const Record& variant) {
  if (reference.status != Status::ok || variant.status != Status::ok) return std::nullopt;
  if (!reference.memory_bytes || !variant.memory_bytes) return std::nullopt;
  if (*reference.memory_bytes <= 0 || *variant.memory_bytes <= 0) return std::nullopt;
  const double ratio = *reference.memory_bytes / *variant.memory_bytes;
  return Measured{ratio, {ratio, ratio}, 0};
}

}  // namespace hilbench
