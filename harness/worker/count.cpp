#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "baselines/block_analysis.hpp"
#include "baselines/derived_sectors.hpp"
#include "baselines/table.hpp"
#include "harness/counters/counted_caches.hpp"
#include "harness/counters/counters.hpp"
#include "harness/measure/random_values.hpp"
#include "harness/worker/phases.hpp"
#include "kernels/base/process/nvtx.hpp"
#include "kernels/orders/locality.hpp"
#include "reports/records/counts.hpp"

namespace hilbench {
namespace {

// The locality counts look at this many rows read by the first tiles of a head; it takes a few milliseconds.
constexpr std::int64_t kLocalityVisits = 1 << 16;

std::map<std::string, Counter> uncounted(const CounterSet& set, const std::string& why) {
  std::map<std::string, Counter> counters;
  const Counter unread{.reason = why};
  for (const CounterEvent& event : set.events) counters.emplace(event.name, unread);
  for (const DerivedCounter& derived : set.derived) counters.emplace(derived.name, unread);
  return counters;
}

std::map<std::string, Counter> count_one(const TaskContext& run, VerifiedVariant& variant,
                                         const std::string& name) {
  Record& record = variant.record;
  PreparedVariant& prepared = *variant.prepared;
  const NvtxRange in_variant(record.variant_id), in_phase("count");
  run.tell({.phase = Phase::count, .variant_id = record.variant_id});
  const CounterSet set = counter_set(name, counter_target(record.work.device));
  const PreparedTraits& traits = prepared.traits();
  if (!traits.why_not_counted.empty()) return uncounted(set, traits.why_not_counted);
  if (traits.count) return traits.count(set);
  CountedCaches caches(
      run.task.measure.cache == CacheState::cold, [&] { run.bench.device->evict_caches(); },
      [&] { prepared.run(); });
  auto counters = count(
      set, run.bench.threads, [&] { caches.restore(); }, [&] { prepared.run(); });
  run.bench.device->synchronize();  // shows a failed kernel here, while its variant is in flight
  return counters;
}

bool counts_elsewhere(const VerifiedVariant& variant) {
  return static_cast<bool>(variant.prepared->traits().count);
}

// Every variant `counts` times. Each pass over them has a random sequence of its own. One process at a time
// has the counters of a GPU: variants that a process of their own counts come first.
void count_all(const TaskContext& run, const std::string& name, std::vector<VerifiedVariant>& variants) {
  std::vector<std::map<std::string, Counter>> found(variants.size());
  const auto count_those = [&](bool elsewhere) {
    for (std::int64_t pass = 0; pass < run.task.counts; ++pass)
      for (const std::size_t i :
           shuffled(variants.size(), run.task.measure.seed + static_cast<std::uint64_t>(pass)))
        if (counts_elsewhere(variants[i]) == elsewhere)
          add_counts(found[i], count_one(run, variants[i], name));
  };
  if (std::ranges::any_of(variants, counts_elsewhere)) close_counters();
  count_those(true);
  // The first count of a set finds in the caches what CUPTI wrote when it opened: it is not kept.
  const auto counts_here = [](const VerifiedVariant& variant) {
    return variant.prepared->traits().why_not_counted.empty() && !counts_elsewhere(variant);
  };
  if (const auto first = std::ranges::find_if(variants, counts_here);
      run.bench.work.device == DeviceKind::cuda && first != variants.end())
    count_one(run, *first, name);
  count_those(false);
  for (std::size_t i = 0; i < found.size(); ++i) variants[i].record.counters.merge(found[i]);
}

}  // namespace

std::map<std::string, Counter> layout_counts(const Case& work, const Index& index) {
  const TileReads reads = tile_reads(work, index, kLocalityVisits);
  return locality_counters(
      measure_locality(reads.visits, reads.tile_begin, row_bytes(work, 1), row_bytes(work, work.kv_heads)));
}

namespace {

// Of a kernel on a GPU, from the index that it reads; none if they are not known.
std::map<std::string, Counter> derived_counters(const TaskContext& run, const Record& record,
                                                const Index& index, BlockAnalyser& analyser) {
  if (record.work.device != DeviceKind::cuda || record.variant.is_baseline()) return {};
  const Implementation* implementation = find_implementation(record.kernel, record.work.device);
  const std::vector<Gpu> gpus = survey_gpus().gpus;
  const auto gpu = std::find_if(gpus.begin(), gpus.end(),
                                [&](const Gpu& each) { return each.ordinal == run.task.device_ordinal; });
  if (gpu == gpus.end()) return {};
  const StreamDevice device = stream_device(*gpu);
  if (why_no_sectors(record.work, record.variant, implementation, device)) return {};
  const BlockAnalysis analysis =
      analyser.analyse(record.work, computed_choice(record), *implementation, device, index);
  auto counters = sector_counters(analysis.own);
  counters.merge(block_counters(analysis));
  return counters;
}

void describe(const TaskContext& run, VerifiedVariant& variant, BlockAnalyser& analyser) {
  Record& record = variant.record;
  const Index* index = variant.prepared->traits().index;
  run.tell({.phase = Phase::count, .variant_id = record.variant_id});
  if (record.variant.is_baseline() || index == nullptr) return;
  record.counters.merge(layout_counts(record.work, *index));
  record.counters.merge(derived_counters(run, record, *index, analyser));
}

}  // namespace

// What a variant measures itself comes first, because counting slows executions. All variants count one set
// before the next set, because the profiler of a GPU restarts when the set changes.
std::vector<VerifiedVariant> counted(const TaskContext& run, std::vector<VerifiedVariant> variants) {
  for (VerifiedVariant& variant : variants) {
    run.tell({.phase = Phase::count, .variant_id = variant.record.variant_id});
    variant.record.counters.merge(variant.prepared->measured());
  }
  for (const std::string& name : run.task.counters) count_all(run, name, variants);
  for (VerifiedVariant& variant : variants)
    if (const auto& end = variant.prepared->traits().end) end();
  BlockAnalyser analyser;
  for (VerifiedVariant& variant : variants) {
    describe(run, variant, analyser);
    variant.prepared.reset();  // if it damaged memory, this crashes while it is still the variant in flight
    run.tell({.phase = Phase::count, .variant_id = variant.record.variant_id, .record = variant.record});
  }
  return variants;
}

}  // namespace hilbench
