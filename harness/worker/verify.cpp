// Prepares and verifies.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "baselines/table.hpp"
#include "harness/external/program.hpp"
#include "harness/measure/drawn_rows.hpp"
#include "harness/measure/dump.hpp"
#include "harness/measure/random_values.hpp"
#include "harness/ring/rank.hpp"
#include "harness/worker/make_variant.hpp"
#include "harness/worker/phases.hpp"
#include "kernels/base/process/nvtx.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/machine/host_memory.hpp"
#include "kernels/orders/order.hpp"
#include "kernels/ring/shard_keys.hpp"
#include "kernels/windows/case_index.hpp"

namespace hilbench {
namespace {

std::string fault_of_order(const OrderRequest& request) {
  return order_fault(request, check_order(request, order_slots(request)));
}

// What is wrong with the order in which the variant stores its inputs, in each shard if it is a ring. Empty
// if nothing is.
std::string order_fault_of(const Record& record) {
  if (record.work.ring_size == 1) return fault_of_order(order_request(record.work, record.variant.kernel()));
  const Ring ring = ring_of(record);
  std::set<std::int64_t> lengths;
  for (std::int64_t rank = 0; rank < ring.ranks(); ++rank) {
    const OrderRequest request = shard_order(ring, rank);
    if (request.length == 0 || !lengths.insert(request.length).second) continue;
    if (std::string fault = fault_of_order(request); !fault.empty()) return fault;
  }
  return "";
}

// What the tiles would read through a map that is no bijection. Nothing if it leads out of the sequence, or
// if it is of the shards of a ring.
std::map<std::string, Counter> counts_of_fault(const Record& record) {
  const Implementation* kernel = find_implementation(record.kernel, record.work.device);
  if (record.work.ring_size > 1 || kernel == nullptr || kernel->tile_rows == nullptr) return {};
  const OrderRequest request = order_request(record.work, record.variant.kernel());
  if (check_order(request, order_slots(request)).in_range < request.length) return {};
  return layout_counts(record.work,
                       case_index(record.work, computed_choice(record), kernel->tile_rows(record.work)));
}

// A step of a variant's verification. If it throws, it costs this variant; returns whether it has not.
template <class Step>
bool check(const TaskContext& run, const Record& record, const Step& step) {
  run.tell({.phase = Phase::verify, .variant_id = record.variant_id});
  try {
    step();
    return true;
  } catch (const Unsupported& reason) {
    Record skipped = record;
    skipped.verify.reset();
    settle(run, std::move(skipped), Status::skipped, reason.what());
  } catch (const std::exception& error) {
    settle(run, record, Status::failed, error.what());
    if (run.bench.lost())
      throw EnvironmentError({.what = "the device is lost to this process", .why = error.what()});
  }
  return false;
}

// Drops the programs that cannot compute the case.
void greet_all(const TaskContext& run, std::vector<const Record*>& external) {
  std::erase_if(external, [&](const Record* record) {
    return !check(run, *record, [&] { run.programs.greet(*record); });
  });
}

enum class Touched { no, yes };

// Throws Unsupported if the system gave other pages than the case asks for. A run touches what is not
// touched.
void expect_pages(const Case& work, PreparedVariant& prepared, Touched touched) {
  if (work.pages == PageSize::standard) return;
  if (touched == Touched::no) prepared.run();
  if (const std::optional<std::string> fault = pages_fault(work.pages)) throw Unsupported(*fault);
}

// Returns nothing if the variant must not be run; its record then says why, and is stored.
std::optional<VerifiedVariant> prepared(const TaskContext& run, Record record) {
  const NvtxRange in_variant(record.variant_id), in_phase("prepare");
  if (!record.variant.is_baseline()) {
    const std::string fault = order_fault_of(record);
    if (!fault.empty()) {
      record.counters = counts_of_fault(record);
      settle(run, std::move(record), Status::invalid, fault);
      return std::nullopt;
    }
  }
  auto made = make_variant(run.bench, record, run.programs);
  record.permute_ns = made->traits().permute_ns;
  if (!made->traits().other_function.empty()) record.flops.reset();  // known of what the case asks for
  (*record.environment)["library"] = made->traits().library;
  if (record.work.ring_size > 1) (*record.environment)["transport"] = made->traits().transport;
  return VerifiedVariant{std::move(record), std::move(made)};
}

bool is_verified_now(const TaskContext& run, const VerifiedVariant& variant) {
  return variant.prepared->implementation().has_output && run.task.verify == Verify::before_and_after;
}

// Runs it once; what stood in its output before is replaced then.
void run_poisoned(const TaskContext& run, VerifiedVariant& variant) {
  variant.prepared->fill_output(kPoison);
  variant.prepared->run();
  run.bench.device->synchronize();
}

void run_program(const TaskContext& run, VerifiedVariant& variant) {
  if (!is_verified_now(run, variant)) return;
  run.bench.hold(InputSet::first);
  variant.prepared->load(InputSet::first);
  run_poisoned(run, variant);
  variant.prepared->take_output();
}

// Returns whether the output is right.
bool verify(const TaskContext& run, VerifiedVariant& variant, const DrawnRows& rows) {
  const NvtxRange in_variant(variant.record.variant_id), in_phase("verify");
  PreparedVariant& prepared = *variant.prepared;
  const bool verified = is_verified_now(run, variant);
  if (verified) {
    if (prepared.traits().process == 0) run_poisoned(run, variant);
    if (!run.task.dump.empty() && !variant.record.twin)
      dump_tensors(run.task.dump, variant.record, run.bench.tensors(prepared.inputs()), prepared.output());
    const Oracle& oracle = run.bench.oracle(prepared.function(), prepared.inputs(), rows);
    const VerifyResult result = judged(run.bench.work, prepared, compare_rows(oracle, prepared.take(rows)));
    variant.record.verify = Verification{.before = result.check,
                                         .once = prepared.inputs() != InputSet::first,
                                         .entropy = {rows.entropy},
                                         .other_function = prepared.traits().other_function};
    if (result.fault) {
      settle(run, std::move(variant.record), Status::failed, *result.fault);
      return false;
    }
  }
  expect_pages(run.bench.work, prepared, verified ? Touched::yes : Touched::no);
  return true;
}

bool probe(const TaskContext& run, VerifiedVariant& variant, std::uint64_t entropy) {
  const NvtxRange in_variant(variant.record.variant_id), in_phase("probe");
  PreparedVariant& prepared = *variant.prepared;
  if (run.bench.work.pass != Pass::forward && run.bench.gradient_probe(entropy).left_out) return true;
  // What the probe expects is only true of what the case asks for.
  if (!prepared.implementation().has_output || !prepared.traits().other_function.empty()) return true;
  run.bench.hold(InputSet::key_probe);
  if (!prepared.load(InputSet::key_probe)) return true;
  prepared.fill_output(kPoison);
  prepared.run();
  run.bench.device->synchronize();
  const ProbeErrors errors = prepared.probe(entropy);
  variant.record.verify->probed_rows = errors.telling;
  const std::optional<std::string> fault = probe_fault(errors);
  if (fault) settle(run, variant.record, Status::failed, *fault);
  return !fault;
}

// Drops the variants whose step throws or returns false; it has settled those.
template <class Step>
void keep_those(const TaskContext& run, std::vector<VerifiedVariant>& variants, const Step& step) {
  std::erase_if(variants, [&](VerifiedVariant& variant) {
    bool keep = false;
    check(run, variant.record, [&] { keep = step(variant); });
    return !keep;
  });
}

}  // namespace

void settle(const TaskContext& run, Record record, Status status, std::string reason) {
  record.status = status;
  record.reason = std::move(reason);
  run.tell({.phase = Phase::verify, .variant_id = record.variant_id, .record = std::move(record)});
}

// Prepares the variants of this process, then the external programs, which start in the meantime. Those are
// loaded in turn, because a program may tune itself when it is loaded: nothing else may run then. On a
// processor programs that start would take the cores from what a variant times while it is prepared, so
// they go first. The rows to be compared are drawn when the outputs of all programs are in our memory.
std::vector<VerifiedVariant> verified(const TaskContext& run) {
  std::vector<VerifiedVariant> variants;
  const auto admit = [&](const Record& record) {
    check(run, record, [&] {
      if (auto variant = prepared(run, record)) variants.push_back(std::move(*variant));
    });
  };
  std::vector<const Record*> own, external;
  for (const std::size_t i : shuffled(run.task.records.size(), run.task.measure.seed))
    (run.programs.has(run.task.records[i]) ? external : own).push_back(&run.task.records[i]);
  const bool share_cores = run.bench.work.device == DeviceKind::cpu;
  if (share_cores) greet_all(run, external);
  for (const Record* record : own) admit(*record);
  if (!share_cores) greet_all(run, external);
  for (const Record* record : external) admit(*record);
  keep_those(run, variants, [&](VerifiedVariant& variant) {
    if (variant.prepared->traits().process != 0) run_program(run, variant);
    return true;
  });
  run.bench.hold(InputSet::first);  // programs are loaded with others
  const std::uint64_t entropy = fresh_entropy();
  const DrawnRows rows = drawn(run.bench.work, entropy, kSampledRows);
  keep_those(run, variants, [&](VerifiedVariant& variant) { return verify(run, variant, rows); });
  return variants;
}

// Each set of inputs is made once for all variants.
std::vector<VerifiedVariant> probed(const TaskContext& run, std::vector<VerifiedVariant> variants) {
  const std::uint64_t entropy = fresh_entropy();
  keep_those(run, variants, [&](VerifiedVariant& variant) { return probe(run, variant, entropy); });
  return variants;
}

std::vector<VerifiedVariant> given_other_inputs(const TaskContext& run,
                                                std::vector<VerifiedVariant> variants) {
  run.programs.files().release(InputSet::key_probe);
  keep_those(run, variants, [&](VerifiedVariant& variant) {
    run.bench.hold(InputSet::second);
    variant.prepared->load(InputSet::second);
    return true;
  });
  run.programs.files().release(InputSet::first);
  return variants;
}

}  // namespace hilbench
