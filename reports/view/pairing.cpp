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

// The chunk that an order really had: 0 and anything beyond the sequence mean the whole length.
std::int64_t effective_chunk(std::int64_t chunk, std::int64_t length) {
  return chunk <= 0 ? length : std::min(chunk, length);
}

// Whether everything but order, order_param and scope is at its default.
bool plain_options(const Variant& variant) {
  Variant plain;
  plain.kernel = variant.kernel;
  plain.order = variant.order;
  plain.order_param = variant.order_param;
  plain.order_chunk = variant.order_chunk;
  plain.chunk_in_id = variant.chunk_in_id;
  plain.order_scope = variant.order_scope;
  return variant == plain;
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
  const auto a = reference.counters.find(name), b = variant.counters.find(name);
  if (a == reference.counters.end() || b == variant.counters.end()) return std::nullopt;
  if (!a->second.value || !b->second.value || *a->second.value <= 0 || *b->second.value <= 0)
    return std::nullopt;
  const double ratio = *a->second.value / *b->second.value;
  return Measured{ratio, {ratio, ratio}, 0};
}

std::optional<Measured> memory_ratio(const Record& reference, const Record& variant) {
  if (reference.status != Status::ok || variant.status != Status::ok) return std::nullopt;
  if (!reference.memory_bytes || !variant.memory_bytes) return std::nullopt;
  if (*reference.memory_bytes <= 0 || *variant.memory_bytes <= 0) return std::nullopt;
  const double ratio = *reference.memory_bytes / *variant.memory_bytes;
  return Measured{ratio, {ratio, ratio}, 0};
}

ClaimRecords quartet_of(const CaseView& view, std::int64_t order_chunk) {
  ClaimRecords quartet;
  const auto matches = [&](const Record& record, std::string_view order, OrderScope scope) {
    return record.kind == ImplementationKind::kernel && record.variant.order == order &&
           record.variant.order_scope == scope && plain_options(record.variant);
  };
  for (const Record* record : view.records)
    if (!quartet.standard && matches(*record, "linear", OrderScope::memory)) quartet.standard = record;
  for (const Record* record : view.records)
    if (!quartet.random && quartet.standard && record->kernel == quartet.standard->kernel &&
        matches(*record, "random", OrderScope::memory))
      quartet.random = record;
  const std::int64_t length = view.work->sequence_length;
  const std::int64_t wanted = effective_chunk(order_chunk, length);
  for (const Record* record : view.records) {
    if (quartet.standard && record->kernel != quartet.standard->kernel) continue;
    if (effective_chunk(record->order_chunk, length) != wanted) continue;
    if (!quartet.hilbert && matches(*record, "hilbert", OrderScope::memory)) quartet.hilbert = record;
    if (!quartet.tokens && matches(*record, "hilbert", OrderScope::tokens)) quartet.tokens = record;
  }
  return quartet;
}

bool same_work(const Case& claimed, const Case& work) {
  Case a = claimed, b = work;
  for (Case* both : {&a, &b}) {
    both->device = DeviceKind::automatic;
    both->threads = 0;
    both->dtype = Dtype::fp32;
    if (both->kv_heads == 0) both->kv_heads = both->heads;
  }
  return a == b;
}

}  // namespace hilbench
