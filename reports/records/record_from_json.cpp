// A record from JSON; everything in it is checked.
#include <fmt/format.h>

#include <algorithm>

#include "kernels/base/text/text.hpp"
#include "reports/records/case_from_json.hpp"
#include "reports/records/record.hpp"
#include "reports/records/record_member.hpp"
#include "reports/records/record_names.hpp"

namespace hilbench {
namespace {

using nlohmann::json;

Variant variant_from(const Record& record, const json& params, const json& asked) {
  std::string name = record.variant_id.substr(0, record.variant_id.find('/'));
  if (name.ends_with(kTwinSuffix)) name.resize(name.size() - kTwinSuffix.size());  // of a baseline
  Variant variant = variant_named(record.kind, std::move(name));
  // A record that was stored before an option existed lacks it; the variant had the default. A baseline has
  // only the options of rings.
  for (const VariantOption& option : variant_fields()) {
    const bool of_rings = option.scope == OptionScope::rings;
    if (variant.is_baseline() && !of_rings) continue;
    const json& from = of_rings ? asked : params;
    if (from.contains(option.name) && !(option.scope == OptionScope::windows && from[option.name].is_null()))
      read_field(from, option, variant);
  }
  if (variant.is_baseline()) return variant;
  KernelChoice& kernel = variant.change();
  kernel.order = string_at(params, "order");
  kernel.order_param = optional_integer_at(params, "order_param");
  if (params.contains("order_box") && !params["order_box"].is_null())
    for (const json& extent : array_at(params, "order_box"))
      kernel.order_box.push_back(to_integer(extent, "order_box"));
  kernel.traversal = string_at(params, "traversal");
  kernel.traversal_param = optional_integer_at(params, "traversal_param");
  kernel.order_chunk = positive_at(asked, "order_chunk");
  kernel.chunk_in_id = boolean_at(asked, "chunk_in_id");
  kernel.order_file = text_at(asked, "order_file");
  kernel.order_file_hash = static_cast<std::uint32_t>(positive_at(asked, "order_file_hash"));
  return variant;
}

// Ids leave out the default traversal. It was head_major once: such a record says now what it did by default.
void follow_default_traversal(Record& record) {
  Variant& variant = record.variant;
  if (variant.kernel().traversal != "head_major" || !record.traversals.empty()) return;
  if (record.variant_id.find("/head_major") != std::string::npos) return;
  variant.change().traversal = KernelChoice{}.traversal;
  record.traversals.assign(record.work.pattern.size(), "head_major");
}

// What ran, if a ring did: `params` holds it for kernels. A baseline that is a ring has contiguous shards.
Sharding resolved_sharding(const Record& record, const json& params) {
  if (record.ring_algorithm.empty()) return Sharding::automatic;
  if (!params.contains("sharding") || params["sharding"].is_null()) return Sharding::contiguous;
  Variant resolved;
  read_field(params, *find_field(variant_fields(), "sharding"), resolved);
  return resolved.ring.sharding;
}

// The same of heads. Records of before they could move directly do not say how.
HeadMoves resolved_head_moves(const Record& record, const json& params) {
  if (record.ring_algorithm != to_string(RingAlgorithm::ulysses)) return HeadMoves::automatic;
  if (!params.contains("head_moves")) return HeadMoves::regrouped;
  Variant resolved;
  read_field(params, *find_field(variant_fields(), "head_moves"), resolved);
  return resolved.ring.head_moves;
}

// Records of before this program chose do not say: `auto` meant united. Baselines have no tiles.
KeyTiles computed_tiles(const Record& record, const json& params) {
  if (!params.contains("key_tiles") || record.variant.is_baseline()) return KeyTiles::automatic;
  Variant resolved;
  read_field({{"tiles", params["key_tiles"]}}, *find_field(variant_fields(), "tiles"), resolved);
  return resolved.kernel().tiles;
}

// The same of sharding, whose default was contiguous once.
void follow_default_sharding(Record& record) {
  Variant& variant = record.variant;
  if (variant.ring.sharding != Sharding::contiguous) return;
  if (record.variant_id.find(".contiguous") != std::string::npos) return;
  variant.ring.sharding = Variant{}.ring.sharding;
}

// A list for each process.
void read_samples(const json& from, std::vector<double>& samples, std::vector<std::int64_t>& of_process) {
  for (const json& process : array_at(from, "samples")) {
    if (!process.is_array()) refuse_record("'samples' is not a list for each process");
    for (const json& sample : process) samples.push_back(to_amount(sample, "samples"));
    of_process.push_back(std::ssize(process));
  }
}

ProtocolTimes protocol_times_from(const json& from) {
  ProtocolTimes times;
  times.protocol.runs = integer_at(from, "runs");
  if (times.protocol.runs < 1) refuse_record(fmt::format("'runs' is {}", times.protocol.runs));
  times.protocol.end = name_at<EndTurn>(from, "end", kEndTurns);
  times.protocol.cache = name_at<CacheState>(from, "cache", kCacheStates);
  read_samples(from, times.trials_ns, times.process_trials);
  return times;
}

// Members are assigned one by one: GCC 12 destroys them twice if an exception leaves a braced list.
Timing timing_from(const json& time) {
  Timing timing;
  timing.median_ns = amount_at(time, "median");
  timing.ci_ns = interval_at(time, "ci");
  timing.timer = text_at(time, "timer");
  read_samples(time, timing.samples_ns, timing.process_rounds);
  if (time.contains("protocols"))  // older records have none
    for (const json& protocol : array_at(time, "protocols"))
      timing.protocols.push_back(protocol_times_from(protocol));
  return timing;
}

Energy energy_from(const json& from) {
  Energy energy;
  energy.median_j = optional_amount_at(from, "median").value_or(0);
  energy.source = text_at(from, "source");
  energy.reason = text_at(from, "reason");
  std::vector<std::int64_t> rounds;  // those of the times
  read_samples(from, energy.samples_j, rounds);
  return energy;
}

Counter counter_from(const std::string& name, const json& from) {
  Counter counter;
  counter.value = optional_double_at(from, "value");
  counter.unit = text_at(from, "unit");
  counter.source = text_at(from, "source");
  counter.passes = static_cast<int>(positive_at(from, "passes"));
  counter.reason = text_at(from, "reason");
  const auto list = [&from](const char* key, std::vector<double>& values) {
    if (!from.contains(key)) return;
    for (const json& value : array_at(from, key)) values.push_back(to_double(value, key));
  };
  list("ranks", counter.ranks);
  list("counts", counter.counts);
  check_share(name, counter);
  return counter;
}

Pairs pairs_from(const json& from) {
  return {.needed = amount_at(from, "needed"),
          .computed = amount_at(from, "computed"),
          .density = amount_at(from, "density"),
          .partial_blocks = amount_at(from, "partial_blocks")};
}

RowCheck row_check_from(const json& from) {
  RowCheck check{.max_abs = amount_at(from, "max_abs"),
                 .rel_l2 = amount_at(from, "rel_l2"),
                 .lse_max_abs = amount_at(from, "lse_max_abs"),
                 .rows = integer_at(from, "rows"),
                 .tolerance = amount_at(from, "tolerance")};
  if (from.contains("worst")) check.worst = optional_amount_at(from, "worst");
  if (const auto tensors = from.find("tensors"); tensors != from.end() && !tensors->is_null())
    for (const json& tensor : array_at(from, "tensors"))
      check.tensors.push_back({.name = text_at(tensor, "name"),
                               .max_abs = amount_at(tensor, "max_abs"),
                               .rel_l2 = amount_at(tensor, "rel_l2"),
                               .rows = integer_at(tensor, "rows"),
                               .tolerance = amount_at(tensor, "tolerance"),
                               .worst = amount_at(tensor, "worst")});
  return check;
}

// One or two numbers of 16 hexadecimal digits.
bool is_entropy(std::string_view text) {
  constexpr std::size_t kDigits = 16;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (i == kDigits ? text[i] != ' '
                     : std::string_view("0123456789abcdef").find(text[i]) == std::string_view::npos)
      return false;
  return text.size() == kDigits || text.size() == 2 * kDigits + 1;
}

Verification verification_from(const json& from, std::int64_t schema) {
  Verification verify{.before = row_check_from(from)};
  if (from.contains("probed_rows")) verify.probed_rows = optional_integer_at(from, "probed_rows");
  if (schema < 3) return verify;
  if (const json& after = member(from, "after"); !after.is_null()) verify.after = row_check_from(after);
  verify.poisoned_rounds = whole_at(from, "poisoned_rounds");
  verify.once = boolean_at(from, "once");
  for (const json& drawn : array_at(from, "entropy")) {
    const std::string text = drawn.is_string() ? drawn.get<std::string>() : "";
    if (!is_entropy(text))
      refuse_record("'entropy' holds something other than numbers of 16 hexadecimal digits");
    verify.entropy.push_back(text);
  }
  if (const auto other = from.find("other_function"); other != from.end() && !other->is_null())
    verify.other_function = text_at(from, "other_function");
  return verify;
}

Requests requests_from(const json& from) {
  return {.count = whole_at(from, "count"),
          .executions = whole_at(from, "executions"),
          .reported_ns = known_amount_at(from, "reported_ns"),
          .wall_ns = known_amount_at(from, "wall_ns"),
          .processor_ns = known_amount_at(from, "processor_ns"),
          .waited_ns = from.contains("waited_ns") ? known_amount_at(from, "waited_ns") : 0,
          .empty_ns = known_amount_at(from, "empty_ns"),
          .busy_ns = optional_amount_at(from, "busy_ns"),
          .busy_reported_ns = optional_amount_at(from, "busy_reported_ns")};
}

void read_results(const json& from, std::int64_t schema, Record& record) {
  if (const json& verify = member(from, "verify"); !verify.is_null())
    record.verify = verification_from(verify, schema);
  if (schema >= 3)
    if (const json& requests = member(from, "requests"); !requests.is_null())
      record.requests = requests_from(requests);
  if (const json& time = member(from, "time_ns"); !time.is_null()) record.time = timing_from(time);
  if (from.contains("energy_j") && !from["energy_j"].is_null())  // older records have none
    record.energy = energy_from(from["energy_j"]);
  if (const json& permute = member(from, "permute_ns"); !permute.is_null())
    record.permute_ns = amount_at(permute, "median");
  record.flops = optional_amount_at(from, "flops");
  record.min_bytes = optional_amount_at(from, "min_bytes");
  record.tflops = optional_amount_at(from, "tflops");
  if (from.contains("judging_peak"))  // older records have none
    record.judging_peak = optional_amount_at(from, "judging_peak");
  record.memory_bytes = optional_amount_at(from, "memory_bytes");
  if (from.contains("held_bytes")) {  // older records have neither
    record.held_bytes = optional_amount_at(from, "held_bytes");
    record.peak_bytes = optional_amount_at(from, "peak_bytes");
  }
  record.comm_bytes = optional_amount_at(from, "comm_bytes");
  if (from.contains("comm_bytes_inside")) {  // older records have no bytes by level
    record.comm_bytes_inside = optional_amount_at(from, "comm_bytes_inside");
    record.comm_bytes_between = optional_amount_at(from, "comm_bytes_between");
  }
  if (from.contains("pairs") && !from["pairs"].is_null()) record.pairs = pairs_from(from["pairs"]);
  const json& counters = member(from, "counters");
  if (!counters.is_object()) refuse_record("'counters' is not an object");
  for (const auto& [name, counter] : counters.items()) record.counters[name] = counter_from(name, counter);
}

// What the record is compared with.
void read_comparison(const json& from, const json& asked, Record& record) {
  record.twin = boolean_at(from, "twin");
  record.reference = text_at(asked, "reference");
  record.margin = known_amount_at(asked, "margin");
  record.injected = known_amount_at(asked, "injected");
}

}  // namespace

Record record_from_json(const json& from) {
  const std::int64_t schema = integer_at(from, "schema");
  if (schema < kOldestRecordSchema || schema > kRecordSchema)
    refuse_record(
        fmt::format("its schema is {}{}", schema, schema == 1 ? fmt::format("; {}", kSchema1Remedy) : ""));
  Record record;
  record.schema = schema;
  record.sweep = string_at(from, "sweep");
  record.case_id = string_at(from, "case");
  record.variant_id = string_at(from, "variant");
  record.kind = name_at<ImplementationKind>(from, "kind", kKinds);
  record.status = name_at<Status>(from, "status", kStatuses);
  record.reason = text_at(from, "reason");
  record.environment = member(from, "environment");
  const json& params = member(from, "params");
  const json& asked = member(from, "asked");
  record.work = case_from_json(params, asked);
  record.kernel = string_at(params, "kernel");
  record.variant = variant_from(record, params, asked);
  record.order_chunk = positive_at(params, "order_chunk");
  record.threads = integer_at(params, "threads");
  if (params.contains("traversals") && !params["traversals"].is_null())
    for (const json& each : array_at(params, "traversals")) {
      if (!each.is_string()) refuse_record("'traversals' holds something other than names");
      record.traversals.push_back(each.get<std::string>());
    }
  follow_default_traversal(record);
  record.key_tiles = computed_tiles(record, params);
  record.ring_algorithm = text_at(params, "ring_algorithm");
  record.sharding = resolved_sharding(record, params);
  follow_default_sharding(record);
  record.head_moves = resolved_head_moves(record, params);
  if (params.contains("ring_groups")) record.ring_groups = positive_at(params, "ring_groups");
  record.transport = text_at(params, "transport");
  record.cache = string_at(params, "cache");
  if (params.contains("steady_s")) record.steady_s = optional_amount_at(params, "steady_s").value_or(0);
  read_results(from, schema, record);
  read_comparison(from, asked, record);
  return record;
}

}  // namespace hilbench
