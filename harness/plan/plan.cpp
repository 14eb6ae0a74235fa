#include "harness/plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "baselines/external/programs.hpp"
#include "baselines/table.hpp"
#include "harness/measure/timing.hpp"
#include "harness/plan/page_reasons.hpp"
#include "harness/plan/ring_reasons.hpp"
#include "harness/plan/window_plan.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/case/pattern.hpp"
#include "kernels/ring/shard_keys.hpp"
#include "reports/records/record.hpp"

namespace hilbench {
namespace {

// Nominal rates, used only for estimates; every number that is reported is measured.
constexpr double kFlopsPerCycle = 32;       // fp32 FMA on two 256-bit units
constexpr double kNominalGhz = 3.0;         // if the host does not say
constexpr double kCountableBytes = 0x1p50;  // larger cases are refused without counting their work

// Nominal FLOPs of one multiprocessor in one clock cycle: dense products of the dtype on the unit made for
// it, from the CUDA C++ Programming Guide's throughput tables and the architecture papers.
double nominal_flops_per_cycle(const Gpu& gpu, Dtype dtype) {
  if (dtype == Dtype::fp32 || gpu.compute_capability < 75) return 256;
  if (gpu.compute_capability < 80) return 1024;
  if (gpu.compute_capability < 90) return gpu.compute_capability == 80 ? 2048 : 1024;
  return 4096;
}

// What the device is for: matrix units for bf16 came with compute capability 8.0.
Dtype best_dtype(const Case& work, const Site& site) {
  constexpr int kFirstWithBf16 = 80;
  const bool bf16 =
      work.device == DeviceKind::cuda && site.gpu && site.gpu->compute_capability >= kFirstWithBf16;
  return bf16 ? Dtype::bf16 : Dtype::fp32;
}

// A kernel computes the pieces of a ring in the same way as a case on one rank.
Case on_one_rank(Case work) {
  work.ring_size = 1;
  return work;
}

const Implementation* implementation_of(const Sweep& sweep, const Variant& variant, const Case& work,
                                        const Gpu* gpu) {
  const External* external = find_external(sweep.externals, variant.name());
  if (external == nullptr) return resolve_implementation(variant, on_one_rank(work), gpu);
  if (external->kind == ImplementationKind::kernel) return &kDeclaredKernel;
  const Implementation* brought = find_implementation(external_name(variant.name()), work.device);
  return brought != nullptr ? brought : &kDeclaredExternal;
}

// A baseline that is a ring algorithm sets the variant's algorithm.
Variant with_own_algorithm(Variant variant, DeviceKind device) {
  const Implementation* named = variant.is_baseline() ? find_implementation(variant.name(), device) : nullptr;
  if (named != nullptr && named->ring_algorithm) variant.ring.algorithm = *named->ring_algorithm;
  return variant;
}

// Why a case or a variant of a training is not measured, whatever the kernel could do.
Refusal why_no_training(const Implementation& implementation, const Case& work, const Variant& variant) {
  if (work.pass == Pass::forward && variant.kernel().saved != Saved::statistics)
    return "saved: a forward pass alone keeps nothing";
  if (work.ring_size > 1 && implementation.has_output && drops(dropout_of(work)))
    return "dropout: not on rings";
  return std::nullopt;
}

// Why no gradients are measured, whatever the kernel could do.
Refusal why_no_gradients(const Implementation& implementation, const Case& work, const Variant& variant) {
  if (work.pass == Pass::forward || !implementation.has_output) return std::nullopt;
  if (work.ring_size > 1) return "rings compute only the forward pass";
  if (implementation.external && work.pass == Pass::both)
    return "programs compute one pass at a time, not both";
  if (variant.kernel().order_scope != OrderScope::memory)
    return fmt::format("order_scope {} computes another function, and only its forward pass",
                       variant.kernel().order_scope == OrderScope::tokens ? "tokens" : "keys");
  return std::nullopt;
}

Refusal why_not(const Sweep& sweep, const PlannedVariant& planned, const PlannedRing& ring,
                const Site& site) {
  const Case& work = planned.work;
  const Gpu* gpu = site.gpu ? &*site.gpu : nullptr;
  if (Refusal reason = why_not_pattern(work, planned.variant)) return reason;
  if (work.device == DeviceKind::cuda && gpu == nullptr) return site.gpu_absence;
  if (planned.implementation == nullptr)
    return fmt::format("this build has no `{}` for device {}", planned.variant.name(),
                       to_string(work.device));
  // An external program has rings of its own, or says that it has none.
  const bool external = planned.implementation->external;
  if (external && sweep.external_use == ExternalUse::refused)
    return "runs another program: needs --allow-external";
  if (external && planned.kind == ImplementationKind::kernel)
    if (Refusal reason = kDeclaredKernel.why_not(work, planned.variant)) return reason;
  if (Refusal reason = why_not_pages_here(planned, site)) return reason;
  if (work.ring_size == 1 && planned.variant.is_baseline() && has_ring_here(planned.variant))
    return fmt::format("{} gathers from the ranks of a ring: ring_size must be above 1",
                       planned.variant.name());
  if (Refusal reason = why_no_training(*planned.implementation, work, planned.variant)) return reason;
  if (Refusal reason = why_no_gradients(*planned.implementation, work, planned.variant)) return reason;
  if (work.ring_size > 1 && sweep.measure.steady)
    return "steady: the ranks of a ring wait for each other between executions, which are not back to back";
  if (work.ring_size > 1 && !external)
    if (Refusal reason = why_not_ring_here(sweep.measure, work, planned.variant, ring, site)) return reason;
  if (work.sequence_length > kMostPositions)
    return fmt::format("sequence_length {}: row indices are 32-bit", work.sequence_length);
  if (!external && planned.implementation->prepare_walk == nullptr && ring.ring && ring.ring->persistent())
    return fmt::format("ring_launch persistent: {} computes in steps; dilated_wgmma has one launch a rank",
                       planned.implementation->name);
  return why_not(*planned.implementation, external ? work : on_one_rank(work), planned.variant, gpu);
}

PlannedVariant named(const Comparison& comparison, const Variant& variant) {
  PlannedVariant planned;
  planned.work = comparison.work;
  planned.variant = variant;
  planned.case_id = comparison.case_id;
  planned.variant_id = variant_id(variant);
  planned.kernel = variant.name();
  planned.kind = variant.is_baseline() ? ImplementationKind::baseline : ImplementationKind::kernel;
  planned.threads = comparison.threads;
  return planned;
}

void resolve_ring(const Ring& ring, Resolved& resolved) {
  const LevelBytes bytes = ring.level_bytes();
  resolved.comm_bytes = bytes.total();
  if (ring.groups() > 0)
    resolved.comm_bytes_inside = bytes.inside, resolved.comm_bytes_between = bytes.between;
  resolved.ring_groups = ring.groups();
  resolved.ring_algorithm = to_string(ring.algorithm());
  resolved.transport = to_string(ring.variant().ring.transport);
  resolved.sharding = ring.variant().ring.sharding;
  if (ring.splits_heads()) resolved.head_moves = ring.variant().ring.head_moves;
}

std::int64_t chunk_of_order(const Ring* ring, const Resolved& resolved) {
  if (ring != nullptr) return shard_order(*ring, 0).chunk;
  const KernelChoice& kernel = resolved.variant.kernel();
  if (resolved.variant.is_baseline() || why_not_order(resolved.work, kernel)) return 0;
  return order_request(resolved.work, kernel).chunk;
}

// That each branch takes, if the variant leaves it to the kernel.
std::vector<std::string> chosen_traversals(const Comparison& comparison, const Ring* ring,
                                           const PlannedVariant& planned) {
  const Case& work = planned.work;
  if (planned.kind != ImplementationKind::kernel || !chosen_by_program(planned.variant.kernel()) ||
      (ring == nullptr && work.ring_size > 1))
    return {};
  const CausalTraversal causal = planned.implementation->causal_traversal;
  const std::int64_t at_once = comparison.gpu.empty() ? comparison.threads : comparison.multiprocessors;
  std::vector<std::string> chosen;
  for (const Branch& branch : work.pattern)
    chosen.push_back(to_string(ring != nullptr ? ring_traversal(*ring, branch, causal)
                                               : traversal_of(work, branch, planned.variant.kernel(),
                                                              {.causal = causal, .at_once = at_once})));
  return chosen;
}

// What an execution computes and holds: `counted`, of the case, and `ring`, if it is one of ours.
void count_costs(const Sweep& sweep, const PatternCounts& counted, const Ring* ring, const Site& site,
                 const CountNotice& counting, PlannedVariant& planned) {
  const Case& work = planned.work;
  const Implementation& implementation = *planned.implementation;
  const auto threads = static_cast<int>(planned.threads);
  if (implementation.own_flops == nullptr)
    planned.flops = flops(work, counted);
  else if (!planned.skip && !(work.device == DeviceKind::cuda && site.gpu_is_assumed))
    planned.flops = implementation.own_flops(work, threads);  // of a GPU, those of the one that is here
  if (implementation.has_output) planned.min_bytes = min_bytes(work, counted);
  if (planned.skip) return;
  const MemoryNeed shared = shared_need(work, sweep.inputs);
  const auto need = [&](const std::optional<TileCounts>& tiles) {
    return ring != nullptr ? ring_need(*ring, implementation, threads, site.gpus)
                           : own_need(work, computed_variant(planned), implementation, threads, tiles);
  };
  planned.own = need(fewest_tile_keys(work, counted, implementation));
  // Counting takes long if lists are long: what does not fit is skipped without it.
  if (!why_not_fit(shared + planned.own, usable_memory(work, site))) {
    if (counting && has_windows(work)) counting(fmt::format("{}/{}", planned.case_id, planned.variant_id));
    if (const auto tiles = counted_tiles(work, planned.variant.kernel(), implementation)) {
      planned.key_tiles = tiles->kind;
      planned.pairs = pairs_of(work, counted, tiles->counts);
      planned.own = need(tiles->counts);
    }
  }
  planned.memory_bytes = shared.device + planned.own.device;
  if (work.pass == Pass::forward || !implementation.has_output || implementation.external) return;
  const StepMemory step = step_memory(work, planned.variant, implementation, threads);
  planned.held_bytes = step.held, planned.peak_bytes = step.peak;
}

// The one place where a variant meets the case and the site. `counted`: none if the case is not worth
// counting.
PlannedVariant plan_variant(const Sweep& sweep, const Comparison& comparison, const Variant& asked,
                            const std::optional<PatternCounts>& counted, const Site& site,
                            const CountNotice& counting) {
  const Case& work = comparison.work;
  PlannedVariant planned = named(comparison, with_own_algorithm(asked, work.device));
  planned.implementation = implementation_of(sweep, planned.variant, work, site.gpu ? &*site.gpu : nullptr);
  const PlannedRing planned_ring = plan_ring(work, planned.variant, site);
  planned.skip = why_not(sweep, planned, planned_ring, site);
  // What no build could measure is not told of what this one lacks.
  if (planned.skip && !counted && (work.device == DeviceKind::cpu || site.gpu))
    if (Refusal too_large = why_not_fit(shared_need(work, sweep.inputs), usable_memory(work, site)))
      planned.skip = too_large;
  const bool known = planned.implementation != nullptr && counted;
  const Ring* ring = known && planned_ring.ring ? &*planned_ring.ring : nullptr;
  planned.order_chunk = chunk_of_order(ring, planned);
  if (planned.implementation != nullptr && !planned.implementation->external) {
    planned.kernel = planned.implementation->name;
    planned.traversals = chosen_traversals(comparison, ring, planned);
  }
  if (known && work.ring_size == 1) planned.comm_bytes = 0;
  if (ring != nullptr) resolve_ring(*ring, planned);
  if (known) count_costs(sweep, *counted, ring, site, counting, planned);
  return planned;
}

// On one rank, variants that differ only in their ring are the same: one of them is measured, the reference
// if it is among them.
void skip_if_measured_already(const Sweep& sweep, const Comparison& comparison, PlannedVariant& planned) {
  if (planned.skip || comparison.work.ring_size > 1 || planned.variant.is_baseline()) return;
  const std::string alone = one_rank_id(planned.variant);
  std::string measured;
  for (const Variant& other : sweep.variants) {
    if (other.is_baseline() || one_rank_id(other) != alone) continue;
    const std::string id = variant_id(other);
    if (measured.empty() || id == sweep.reference) measured = id;
  }
  if (measured == planned.variant_id) return;
  planned.skip = fmt::format("ring_size 1: the same as {}", measured);
  planned.measured_as = measured;
}

// A second instance of the reference, with K and V of its own. None if there is no reference, or it is no
// attention. A rival that is a program of its own has a twin in a chain, where it is what the claim began
// with.
std::optional<PlannedVariant> twin_of_reference(const Comparison& comparison, bool chain) {
  if (!comparison.reference) return std::nullopt;
  PlannedVariant twin = comparison.variants[*comparison.reference];
  if (twin.skip || !twin.implementation->has_output) return std::nullopt;
  const bool kernel = twin.kind == ImplementationKind::kernel;
  if (twin.implementation->external && !kernel && !chain) return std::nullopt;
  twin.twin = true;
  twin.variant_id += kTwinSuffix;
  if (comparison.work.ring_size == 1 && !twin.implementation->external)
    twin.own.device += copies_of_keys(comparison.work);
  return twin;
}

// All variants of a comparison are in memory at the same time. They are admitted one after another as long as
// memory lasts, the reference first.
void admit_by_memory(Comparison& comparison, const Inputs& inputs, const Site& site) {
  const MemoryNeed usable = usable_memory(comparison.work, site);
  MemoryNeed used = shared_need(comparison.work, inputs);
  MemoryNeed held;  // files of an admitted external program, which those after it read too
  const auto admit = [&](PlannedVariant& planned) {
    if (planned.skip) return;
    const bool external = planned.implementation->external;
    const MemoryNeed more = external ? planned.own - held : planned.own;
    planned.skip = why_not_fit(used + more, usable);
    if (planned.skip) return;
    used = used + more;
    if (external) held = input_files_need(comparison.work);
  };
  if (comparison.reference) admit(comparison.variants[*comparison.reference]);
  for (std::size_t i = 0; i < comparison.variants.size(); ++i)
    if (comparison.reference != i) admit(comparison.variants[i]);
}

// Pairs that a variant computes for each that is needed.
double computed_of_needed(const PlannedVariant& planned) {
  return planned.pairs && planned.pairs->needed > 0 ? planned.pairs->computed / planned.pairs->needed : 1;
}

double nominal_flops(const Comparison& comparison, const Site& site) {
  if (comparison.work.device == DeviceKind::cuda && site.gpu)
    return nominal_flops_per_cycle(*site.gpu, comparison.work.dtype) * site.gpu->multiprocessors *
           site.gpu->clock_ghz * 1e9;
  const double ghz = site.host.nominal_ghz > 0 ? site.host.nominal_ghz : kNominalGhz;
  return kFlopsPerCycle * ghz * 1e9 *
         static_cast<double>(std::min<std::int64_t>(comparison.threads, site.host.cores));
}

}  // namespace

bool Comparison::runnable() const {
  return std::any_of(variants.begin(), variants.end(),
                     [](const PlannedVariant& planned) { return !planned.skip; });
}

double timing_s(const Measure& measure, const Comparison& comparison) {
  constexpr double kWithTrial = 1.2;  // of steady samples (harness/measure/timing.cpp)
  if (!comparison.runnable()) return 0;
  const auto rounds = static_cast<double>(fewest_rounds(measure));
  double seconds = 0;
  if (measure.steady)
    for (const PlannedVariant& planned : comparison.variants)
      if (!planned.skip) seconds += rounds * kWithTrial * measure.steady_s;
  return std::max(seconds, measure.budget_s / static_cast<double>(measure.processes));
}

Comparison plan_case(const Sweep& sweep, const SweepCase& swept, const Site& site,
                     const CountNotice& counting) {
  Comparison comparison{.work = swept.work, .claimed = swept.claimed};
  Case& work = comparison.work;
  if (work.device == DeviceKind::automatic)
    work.device = site.gpu && !site.gpu_is_assumed ? DeviceKind::cuda : DeviceKind::cpu;
  if (std::exchange(work.dtype_by_device, false)) work.dtype = best_dtype(work, site);
  if (work.device == DeviceKind::cuda && site.gpu) {
    comparison.gpu = site.gpu->name;
    comparison.multiprocessors = site.gpu->multiprocessors;
  }
  const bool skipped = swept.skipped || sweep.skip_when.matches(work);
  comparison.case_id = case_id(work);
  if (work.device == DeviceKind::cpu && work.threads == 0 && !skipped) expect_threads(site.host);
  comparison.threads = work.threads > 0 ? work.threads : default_threads(site.host);
  // A case that skip_when skips may be impossible, and one that is too large is refused below: the work of
  // neither is counted.
  std::optional<PatternCounts> counted;
  if (!skipped && shared_need(work, sweep.inputs).device < kCountableBytes) counted = count_work(work);
  const double rate = nominal_flops(comparison, site);
  for (const Variant& variant : sweep.variants) {
    if (!is_asked_on(sweep, variant, work.device)) continue;
    PlannedVariant planned = plan_variant(sweep, comparison, variant, counted, site, counting);
    skip_if_measured_already(sweep, comparison, planned);
    if (planned.variant_id == sweep.reference) comparison.reference = comparison.variants.size();
    if (skipped) planned.skip = fmt::format("skip_when: {}", sweep.skip_when.text());
    if (planned.flops) planned.seconds = *planned.flops * computed_of_needed(planned) / rate;
    comparison.variants.push_back(std::move(planned));
  }
  if (auto twin = twin_of_reference(comparison, !sweep.chain.steps.empty()))
    comparison.variants.push_back(std::move(*twin));
  admit_by_memory(comparison, sweep.inputs, site);
  if (comparison.reference && comparison.variants[*comparison.reference].skip) comparison.reference.reset();
  return comparison;
}

Plan make_plan(const Sweep& sweep, const Site& site, const CountNotice& counting) {
  constexpr double kPlannedBytes = 1000;  // a planned variant and its line in the table
  Plan plan;
  std::set<std::string> seen;  // devices `auto` and `cpu` may give the same case twice
  const double bytes =
      kPlannedBytes * static_cast<double>(sweep.cases.size()) * static_cast<double>(sweep.variants.size());
  const auto available = static_cast<double>(site.host.available_memory_bytes);  // 0: unknown
  if (available > 0 && bytes > kUsableMemory * available)
    throw UsageError({.what = fmt::format("{} cases with {} variants each are too many to plan",
                                          sweep.cases.size(), sweep.variants.size()),
                      .where = sweep.file.string(),
                      .why = fmt::format("the plan takes about {:.1f} GiB", bytes / 0x1p30),
                      .remedy = "shorten an axis, or split the sweep"});
  for (const SweepCase& swept : sweep.cases) {
    Comparison comparison = plan_case(sweep, swept, site, counting);
    if (seen.insert(comparison.case_id).second) plan.comparisons.push_back(std::move(comparison));
  }
  return plan;
}

}  // namespace hilbench
