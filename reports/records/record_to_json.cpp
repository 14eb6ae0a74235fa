// A record as JSON: all keys are always present; null if unknown or not finite.
#include <cmath>
#include <nlohmann/json.hpp>

#include "kernels/base/text/field_json.hpp"
#include "kernels/case/mask_blocks.hpp"
#include "kernels/case/windows.hpp"
#include "reports/records/record.hpp"
#include "reports/records/record_names.hpp"

namespace hilbench {
namespace {

using nlohmann::json;

json number(double value) {
  return std::isfinite(value) ? json(value) : json(nullptr);
}
json number(const std::optional<double>& value) {
  return value ? number(*value) : json(nullptr);
}
// Bytes that are not UTF-8 (in a path, in a message of a library) become U+FFFD, so that every record
// can be dumped.
json text(const std::string& value) {
  if (value.empty()) return nullptr;
  return json::parse(json(value).dump(-1, ' ', false, json::error_handler_t::replace));
}
// Integers for which 0 means "not given" or "not applicable".
json positive(std::int64_t value) {
  return value > 0 ? json(value) : json(nullptr);
}
json interval(const Interval& value) {
  return json::array({number(value.low), number(value.high)});
}

// `segments` and `dilations`, or the lists of windows, or the mask; null are those that the pattern does not
// have.
void add_pattern(const Case& work, json& params) {
  for (const char* name : {"segments", "dilations"})
    params[name] = has_windows(work) ? json(nullptr) : json::array();
  for (const Branch& branch : work.pattern) {
    if (has_windows(work)) break;
    params["segments"].push_back(branch.segment_length);
    params["dilations"].push_back(branch.dilation);
  }
  for (const Field<WindowDimension>& field : window_fields()) {
    const bool applies = has_grid(work) && (!has_mask_blocks(work) || field.name == "grid");
    json& list = params[field.name] = applies ? json::array() : json(nullptr);
    if (!applies) continue;
    for (const WindowDimension& dimension : work.windows) list.push_back(field_json(field, dimension));
  }
  params["mask"] = has_mask_blocks(work) ? json(mask_text(work.mask_blocks)) : json(nullptr);
  params["mask_block"] = has_mask_blocks(work) ? json(work.mask_blocks.block) : json(nullptr);
}

json params_json(const Record& record) {
  json params;
  const Case& work = record.work;
  for (const Field<Case>& field : case_fields())
    params[field.name] = of_pattern(field.name, pattern_kind(work)) ? field_json(field, work) : json(nullptr);
  params["threads"] = record.threads;
  add_pattern(work, params);
  params["kernel"] = record.kernel;
  params["cache"] = record.cache;
  params["steady_s"] = record.steady_s > 0 ? number(record.steady_s) : json(nullptr);
  const Variant& variant = record.variant;
  const KernelChoice& kernel = variant.kernel();
  const bool ordered = !variant.is_baseline();
  for (const VariantOption& option : variant_fields()) {
    const bool applies = ordered && (work.ring_size > 1 || option.scope != OptionScope::rings) &&
                         (has_windows(work) || option.scope != OptionScope::windows);
    params[option.name] = applies ? field_json(option, variant) : json(nullptr);
  }
  params["order"] = ordered ? json(kernel.order) : json(nullptr);
  params["order_box"] = ordered && !kernel.order_box.empty() ? json(kernel.order_box) : json(nullptr);
  params["order_param"] = ordered && kernel.order_param ? json(*kernel.order_param) : json(nullptr);
  params["order_chunk"] = ordered ? positive(record.order_chunk) : json(nullptr);
  params["traversal"] = ordered ? json(kernel.traversal) : json(nullptr);
  params["traversal_param"] =
      ordered && kernel.traversal_param ? json(*kernel.traversal_param) : json(nullptr);
  params["traversals"] = record.traversals.empty() ? json(nullptr) : json(record.traversals);
  params["ring_algorithm"] = text(record.ring_algorithm);
  params["ring_groups"] = positive(record.ring_groups);
  params["transport"] = text(record.transport);
  if (record.key_tiles != KeyTiles::automatic) params["key_tiles"] = to_string(record.key_tiles);
  if (record.sharding != Sharding::automatic) params["sharding"] = to_string(record.sharding);
  if (record.head_moves != HeadMoves::automatic) params["head_moves"] = to_string(record.head_moves);
  return params;
}

// Values as the sweep states them, if `params` holds what they resolved to.
json asked_json(const Record& record) {
  const KernelChoice& kernel = record.variant.kernel();
  json asked = {{"threads", positive(record.work.threads)},
                {"order_chunk", positive(kernel.order_chunk)},
                {"chunk_in_id", kernel.chunk_in_id},
                {"order_file", text(kernel.order_file.string())},
                {"order_file_hash", positive(kernel.order_file_hash)},
                {"reference", text(record.reference)},
                {"margin", number(record.margin)},
                {"injected", number(record.injected)}};
  for (const VariantOption& option : variant_fields())
    if (option.scope == OptionScope::rings) asked[option.name] = field_json(option, record.variant);
  return asked;
}

json check_json(const RowCheck& check) {
  json tensors;
  for (const TensorCheck& tensor : check.tensors)
    tensors.push_back({{"name", tensor.name},
                       {"max_abs", number(tensor.max_abs)},
                       {"rel_l2", number(tensor.rel_l2)},
                       {"rows", tensor.rows},
                       {"tolerance", number(tensor.tolerance)},
                       {"worst", number(tensor.worst)}});
  return {{"max_abs", number(check.max_abs)},
          {"rel_l2", number(check.rel_l2)},
          {"lse_max_abs", number(check.lse_max_abs)},
          {"rows", check.rows},
          {"tolerance", number(check.tolerance)},
          {"worst", check.worst ? number(*check.worst) : json()},
          {"tensors", tensors}};
}

// The comparison before the timing has no object of its own: its keys are those of schema 2.
json verify_json(const Verification& verify) {
  json made = check_json(verify.before);
  made["probed_rows"] = verify.probed_rows ? json(*verify.probed_rows) : json();
  made["after"] = verify.after ? check_json(*verify.after) : json();
  made["poisoned_rounds"] = verify.poisoned_rounds;
  made["once"] = verify.once;
  made["entropy"] = verify.entropy;
  made["other_function"] = verify.other_function.empty() ? json() : json(verify.other_function);
  return made;
}

json requests_json(const Requests& requests) {
  return {{"count", requests.count},
          {"executions", requests.executions},
          {"reported_ns", number(requests.reported_ns)},
          {"wall_ns", number(requests.wall_ns)},
          {"processor_ns", number(requests.processor_ns)},
          {"waited_ns", number(requests.waited_ns)},
          {"empty_ns", number(requests.empty_ns)},
          {"busy_ns", number(requests.busy_ns)},
          {"busy_reported_ns", number(requests.busy_reported_ns)}};
}

// A list for each process.
json samples_json(const std::vector<double>& samples, const std::vector<std::int64_t>& process_rounds) {
  json lists = json::array();
  auto next = samples.begin();
  for (const std::int64_t rounds : process_rounds) {
    json& process = lists.emplace_back(json::array());
    for (std::int64_t round = 0; round < rounds; ++round) process.push_back(number(*next++));
  }
  return lists;
}

json protocols_json(const std::vector<ProtocolTimes>& protocols) {
  json list = json::array();
  for (const ProtocolTimes& times : protocols)
    list.push_back({{"runs", times.protocol.runs},
                    {"end", kEndTurns[static_cast<std::size_t>(times.protocol.end)]},
                    {"cache", kCacheStates[static_cast<std::size_t>(times.protocol.cache)]},
                    {"samples", samples_json(times.trials_ns, times.process_trials)}});
  return list;
}

json timing_json(const Timing& time) {
  return {{"median", number(time.median_ns)},
          {"ci", interval(time.ci_ns)},
          {"samples", samples_json(time.samples_ns, time.process_rounds)},
          {"timer", text(time.timer)},
          {"protocols", protocols_json(time.protocols)}};
}

json energy_json(const Record& record) {
  if (!record.energy) return nullptr;
  const Energy& energy = *record.energy;
  const bool known = record.time && energy.samples_j.size() == record.time->samples_ns.size();
  return {{"median", known ? number(energy.median_j) : json(nullptr)},
          {"samples", known ? samples_json(energy.samples_j, record.time->process_rounds) : json::array()},
          {"source", text(energy.source)},
          {"reason", text(energy.reason)}};
}

json counter_json(const Counter& counter) {
  const json value = number(counter.value);
  const bool lost = counter.value && value.is_null();
  json made = {{"value", value},
               {"unit", text(counter.unit)},
               {"source", text(counter.source)},
               {"passes", positive(counter.passes)},
               {"reason", lost ? json("not a finite number") : text(counter.reason)}};
  const auto put = [&made](const char* key, const std::vector<double>& values) {
    if (values.empty()) return;
    json& list = made[key] = json::array();
    for (const double each : values) list.push_back(number(each));
  };
  put("ranks", counter.ranks);
  put("counts", counter.counts);
  return made;
}

json pairs_json(const Pairs& pairs) {
  return {{"needed", number(pairs.needed)},
          {"computed", number(pairs.computed)},
          {"ratio", number(pairs.computed / pairs.needed)},
          {"density", number(pairs.density)},
          {"partial_blocks", number(pairs.partial_blocks)}};
}

json speedup_json(const Measured& speedup) {
  return {{"against", speedup.against},       {"ratio", number(speedup.ratio)},
          {"ci", interval(speedup.ci)},       {"processes", speedup.processes},
          {"margin", number(speedup.margin)}, {"verdict", to_string(speedup.verdict)}};
}

}  // namespace

json to_json(const Record& record) {
  json counters = json::object();
  for (const auto& [name, counter] : record.counters) counters[name] = counter_json(counter);
  return {{"schema", kRecordSchema},
          {"sweep", record.sweep},
          {"case", record.case_id},
          {"variant", record.variant_id},
          {"twin", record.twin},
          {"injected", record.injected > 0},
          {"params", params_json(record)},
          {"asked", asked_json(record)},
          {"kind", kKinds[static_cast<std::size_t>(record.kind)]},
          {"status", to_string(record.status)},
          {"reason", text(record.reason)},
          {"verify", record.verify ? verify_json(*record.verify) : json(nullptr)},
          {"time_ns", record.time ? timing_json(*record.time) : json(nullptr)},
          {"requests", record.requests ? requests_json(*record.requests) : json(nullptr)},
          {"energy_j", energy_json(record)},
          {"permute_ns", record.permute_ns ? json{{"median", number(*record.permute_ns)}} : json(nullptr)},
          {"flops", number(record.flops)},
          {"min_bytes", number(record.min_bytes)},
          {"tflops", number(record.tflops)},
          {"judging_peak", number(record.judging_peak)},
          {"memory_bytes", number(record.memory_bytes)},
          {"held_bytes", number(record.held_bytes)},
          {"peak_bytes", number(record.peak_bytes)},
          {"comm_bytes", number(record.comm_bytes)},
          {"comm_bytes_inside", number(record.comm_bytes_inside)},
          {"comm_bytes_between", number(record.comm_bytes_between)},
          {"pairs", record.pairs ? pairs_json(*record.pairs) : json(nullptr)},
          {"counters", std::move(counters)},
          {"speedup", record.speedup ? speedup_json(*record.speedup) : json(nullptr)},
          {"environment", *record.environment}};
}

}  // namespace hilbench
