#include "harness/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "harness/error.hpp"

namespace hilbench {
namespace {

using nlohmann::json;

constexpr std::array<std::string_view, 4> kStatuses = {"ok", "skipped", "failed", "invalid"};
constexpr std::array<std::string_view, 2> kKinds = {"kernel", "baseline"};
constexpr std::array<std::string_view, 4> kVerdicts = {"faster", "slower", "no difference shown",
                                                       "different function"};

// Options that mean something on a ring of several ranks only.
constexpr std::array<std::string_view, 4> kRingOptions = {"order_span", "ring_algorithm", "sharding",
                                                          "transport"};

bool of_rings(std::string_view name) {
  return std::find(kRingOptions.begin(), kRingOptions.end(), name) != kRingOptions.end();
}

json number(double value) {
  return std::isfinite(value) ? json(value) : json(nullptr);
}
json number(const std::optional<double>& value) {
  return value ? number(*value) : json(nullptr);
}
// Bytes that are no UTF-8 (a path, a message of a library) become U+FFFD, so that every record can be dumped.
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

template <class T>
json field_json(const Field<T>& field, const T& owner) {
  const std::int64_t value = field.get(owner);
  if (field.kind == FieldKind::integer) return value;
  if (field.kind == FieldKind::boolean) return value != 0;
  return field_text(field, value);
}

json params_json(const Record& record) {
  json params;
  for (const Field<Case>& field : case_fields()) params[field.name] = field_json(field, record.work);
  params["threads"] = record.threads;
  params["segments"] = params["dilations"] = json::array();
  for (const Branch& branch : record.work.pattern) {
    params["segments"].push_back(branch.segment_length);
    params["dilations"].push_back(branch.dilation);
  }
  params["kernel"] = record.kernel;
  params["cache"] = record.cache;
  const VariantSpec& spec = record.variant;
  const bool ordered = !spec.baseline;
  for (const Field<VariantSpec>& field : variant_fields()) {
    const bool applies = ordered && (record.work.ring_size > 1 || !of_rings(field.name));
    params[field.name] = applies ? field_json(field, spec) : json(nullptr);
  }
  params["order"] = ordered ? json(spec.order) : json(nullptr);
  params["order_param"] = ordered && spec.order_param ? json(*spec.order_param) : json(nullptr);
  params["order_chunk"] = ordered ? positive(record.order_chunk) : json(nullptr);
  params["traversal"] = ordered ? json(spec.traversal) : json(nullptr);
  params["traversal_param"] = ordered && spec.traversal_param ? json(*spec.traversal_param) : json(nullptr);
  params["ring_algorithm"] = text(record.ring_algorithm);
  params["transport"] = text(record.transport);
  return params;
}

// What the sweep wrote where `params` shows what it resolved to.
json asked_json(const Record& record) {
  const VariantSpec& spec = record.variant;
  json asked = {{"threads", positive(record.work.threads)},
                {"order_chunk", positive(spec.order_chunk)},
                {"chunk_in_id", spec.chunk_in_id},
                {"order_file", text(spec.order_file.string())},
                {"order_file_hash", positive(spec.order_file_hash)}};
  for (const Field<VariantSpec>& field : variant_fields())
    if (of_rings(field.name)) asked[field.name] = field_json(field, spec);
  return asked;
}

json verify_json(const Verification& verify) {
  return {{"max_abs", number(verify.max_abs)},
          {"rel_l2", number(verify.rel_l2)},
          {"lse_max_abs", number(verify.lse_max_abs)},
          {"rows", verify.rows},
          {"tolerance", number(verify.tolerance)}};
}

json timing_json(const Timing& time) {
  json samples = json::array();
  for (const double sample : time.samples_ns) samples.push_back(number(sample));
  return {{"median", number(time.median_ns)},
          {"ci", interval(time.ci_ns)},
          {"samples", std::move(samples)},
          {"process_rounds", time.process_rounds},
          {"timer", text(time.timer)}};
}

json counter_json(const Counter& counter) {
  const json value = number(counter.value);
  const bool lost = counter.value && value.is_null();
  json made = {{"value", value},
               {"unit", text(counter.unit)},
               {"source", text(counter.source)},
               {"passes", positive(counter.passes)},
               {"reason", lost ? json("not a finite number") : text(counter.reason)}};
  if (!counter.ranks.empty()) {
    json& ranks = made["ranks"] = json::array();
    for (const double value_of_rank : counter.ranks) ranks.push_back(number(value_of_rank));
  }
  return made;
}

json speedup_json(const Speedup& speedup) {
  return {{"against", speedup.against},
          {"ratio", number(speedup.ratio)},
          {"ci", interval(speedup.ci)},
          {"verdict", to_string(speedup.verdict)}};
}

[[noreturn]] void fail(const std::string& why) {
  throw UsageError({.what = fmt::format("not a record of schema {}", kRecordSchema), .why = why});
}

const json& member(const json& object, std::string_view key) {
  if (!object.is_object()) fail(fmt::format("'{}' is looked for in something that is no object", key));
  const auto found = object.find(key);
  if (found == object.end()) fail(fmt::format("'{}' is missing", key));
  return *found;
}

std::string string_at(const json& object, std::string_view key) {
  const json& value = member(object, key);
  if (!value.is_string()) fail(fmt::format("'{}' is not text", key));
  return value.get<std::string>();
}
// Null stands for "".
std::string text_at(const json& object, std::string_view key) {
  return member(object, key).is_null() ? std::string() : string_at(object, key);
}

double to_double(const json& value, std::string_view key) {
  if (value.is_null()) return std::numeric_limits<double>::quiet_NaN();
  if (!value.is_number()) fail(fmt::format("'{}' is not a number", key));
  return value.get<double>();
}
double double_at(const json& object, std::string_view key) {
  return to_double(member(object, key), key);
}
// A time, a size, an error or a ratio: null or at least 0.
double to_amount(const json& value, std::string_view key) {
  const double amount = to_double(value, key);
  if (amount < 0) fail(fmt::format("'{}' is {}, below 0", key, amount));
  return amount;
}
double amount_at(const json& object, std::string_view key) {
  return to_amount(member(object, key), key);
}
std::optional<double> optional_amount_at(const json& object, std::string_view key) {
  if (member(object, key).is_null()) return std::nullopt;
  return amount_at(object, key);
}
std::optional<double> optional_double_at(const json& object, std::string_view key) {
  if (member(object, key).is_null()) return std::nullopt;
  return double_at(object, key);
}

std::int64_t to_integer(const json& value, std::string_view key) {
  const bool fits = value.is_number_unsigned() ? value.get<std::uint64_t>() <= std::uint64_t{1} << 62
                                               : value.is_number_integer();
  if (!fits) fail(fmt::format("'{}' is not an integer, or too large", key));
  return value.get<std::int64_t>();
}
std::int64_t integer_at(const json& object, std::string_view key) {
  return to_integer(member(object, key), key);
}
// Null stands for 0.
std::int64_t positive_at(const json& object, std::string_view key) {
  return member(object, key).is_null() ? 0 : integer_at(object, key);
}
std::optional<std::int64_t> optional_integer_at(const json& object, std::string_view key) {
  if (member(object, key).is_null()) return std::nullopt;
  return integer_at(object, key);
}

bool boolean_at(const json& object, std::string_view key) {
  const json& value = member(object, key);
  if (!value.is_boolean()) fail(fmt::format("'{}' is neither true nor false", key));
  return value.get<bool>();
}

const json& array_at(const json& object, std::string_view key) {
  const json& value = member(object, key);
  if (!value.is_array()) fail(fmt::format("'{}' is not a list", key));
  return value;
}

Interval interval_at(const json& object, std::string_view key) {
  const json& value = array_at(object, key);
  if (value.size() != 2) fail(fmt::format("'{}' is not a pair", key));
  const Interval interval = {to_amount(value[0], key), to_amount(value[1], key)};
  if (interval.low > interval.high)
    fail(fmt::format("'{}' is reversed: it begins at {} and ends at {}", key, interval.low, interval.high));
  return interval;
}

template <class Enum, std::size_t size>
Enum name_at(const json& object, std::string_view key, const std::array<std::string_view, size>& names) {
  const std::string name = string_at(object, key);
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) fail(fmt::format("'{}' is '{}'", key, name));
  return static_cast<Enum>(found - names.begin());
}

template <class T>
void read_field(const json& params, const Field<T>& field, T& owner) {
  if (field.kind == FieldKind::integer) return field.set(owner, integer_at(params, field.name));
  if (field.kind == FieldKind::boolean) return field.set(owner, boolean_at(params, field.name) ? 1 : 0);
  const std::string name = string_at(params, field.name);
  const auto found = std::find(field.choices.begin(), field.choices.end(), name);
  if (found == field.choices.end()) fail(fmt::format("'{}' is '{}'", field.name, name));
  field.set(owner, found - field.choices.begin());
}

Case case_from(const json& params, const json& asked) {
  Case work;
  for (const Field<Case>& field : case_fields()) read_field(params, field, work);
  work.threads = positive_at(asked, "threads");
  const Case unset;
  for (const Field<Case>& field : case_fields()) {
    const std::int64_t value = field.get(work);
    if (field.kind != FieldKind::integer || value == field.get(unset)) continue;
    if (value < field.minimum || value > field.maximum)
      fail(fmt::format("'{}' is {}, not {} to {}", field.name, value, field.minimum, field.maximum));
  }
  if (work.ring_size > 1 && work.kv_heads == 0) fail("'kv_heads' of a ring is 0");
  const json& segments = array_at(params, "segments");
  const json& dilations = array_at(params, "dilations");
  if (segments.size() != dilations.size()) fail("'segments' and 'dilations' differ in length");
  work.pattern.clear();
  for (std::size_t i = 0; i < segments.size(); ++i)
    work.pattern.push_back({to_integer(segments[i], "segments"), to_integer(dilations[i], "dilations")});
  if (work.pattern.empty()) fail("'segments' is empty");
  for (const Branch& branch : work.pattern)
    if (std::min(branch.segment_length, branch.dilation) < 1)
      fail("'segments' or 'dilations' holds less than 1");
  return work;
}

VariantSpec variant_from(const Record& record, const json& params, const json& asked) {
  VariantSpec spec;
  spec.kernel = record.variant_id.substr(0, record.variant_id.find('/'));
  spec.baseline = record.kind == RecordKind::baseline;
  // A record stored before an option came to be lacks it: its variant had the default. A baseline has those
  // of a ring alone.
  for (const Field<VariantSpec>& field : variant_fields()) {
    if (spec.baseline && !of_rings(field.name)) continue;
    const json& from = of_rings(field.name) ? asked : params;
    if (from.contains(field.name)) read_field(from, field, spec);
  }
  if (spec.baseline) return spec;
  spec.order = string_at(params, "order");
  spec.order_param = optional_integer_at(params, "order_param");
  spec.traversal = string_at(params, "traversal");
  spec.traversal_param = optional_integer_at(params, "traversal_param");
  spec.order_chunk = positive_at(asked, "order_chunk");
  spec.chunk_in_id = boolean_at(asked, "chunk_in_id");
  spec.order_file = text_at(asked, "order_file");
  spec.order_file_hash = static_cast<std::uint32_t>(positive_at(asked, "order_file_hash"));
  return spec;
}

// Members are assigned one by one here: GCC 12 destroys them twice where an exception leaves a braced list.
Timing timing_from(const json& time) {
  Timing timing;
  timing.median_ns = amount_at(time, "median");
  timing.ci_ns = interval_at(time, "ci");
  timing.timer = text_at(time, "timer");
  for (const json& sample : array_at(time, "samples"))
    timing.samples_ns.push_back(to_amount(sample, "samples"));
  for (const json& rounds : array_at(time, "process_rounds"))
    timing.process_rounds.push_back(to_integer(rounds, "process_rounds"));
  return timing;
}

Speedup speedup_from(const json& from) {
  Speedup speedup;
  speedup.against = string_at(from, "against");
  speedup.ratio = amount_at(from, "ratio");
  if (speedup.ratio == 0) fail("'ratio' is 0");
  speedup.ci = interval_at(from, "ci");
  speedup.verdict = name_at<Verdict>(from, "verdict", kVerdicts);
  return speedup;
}

Counter counter_from(const std::string& name, const json& from) {
  Counter counter;
  counter.value = optional_double_at(from, "value");
  counter.unit = text_at(from, "unit");
  counter.source = text_at(from, "source");
  counter.passes = static_cast<int>(positive_at(from, "passes"));
  counter.reason = text_at(from, "reason");
  if (from.contains("ranks"))
    for (const json& value : array_at(from, "ranks")) counter.ranks.push_back(to_double(value, "ranks"));
  check_share(name, counter);
  return counter;
}

void read_results(const json& from, Record& record) {
  if (const json& verify = member(from, "verify"); !verify.is_null())
    record.verify = {.max_abs = amount_at(verify, "max_abs"),
                     .rel_l2 = amount_at(verify, "rel_l2"),
                     .lse_max_abs = amount_at(verify, "lse_max_abs"),
                     .rows = integer_at(verify, "rows"),
                     .tolerance = amount_at(verify, "tolerance")};
  if (const json& time = member(from, "time_ns"); !time.is_null()) record.time = timing_from(time);
  if (const json& permute = member(from, "permute_ns"); !permute.is_null())
    record.permute_ns = amount_at(permute, "median");
  record.flops = optional_amount_at(from, "flops");
  record.min_bytes = optional_amount_at(from, "min_bytes");
  record.tflops = optional_amount_at(from, "tflops");
  record.memory_bytes = optional_amount_at(from, "memory_bytes");
  record.comm_bytes = optional_amount_at(from, "comm_bytes");
  if (const json& speedup = member(from, "speedup"); !speedup.is_null())
    record.speedup = speedup_from(speedup);
  const json& counters = member(from, "counters");
  if (!counters.is_object()) fail("'counters' is not an object");
  for (const auto& [name, counter] : counters.items()) record.counters[name] = counter_from(name, counter);
}

}  // namespace

void check_share(std::string_view name, Counter& counter) {
  constexpr double kAgreement = 1e-3;
  if (!counter.value || !name.ends_with("_hit_rate")) return;
  const double value = *counter.value, possible = std::clamp(value, 0.0, 1.0);
  if (value == possible) return;
  if (std::abs(value - possible) <= kAgreement) {
    counter.value = possible;
    counter.source += fmt::format(", rounded from {}", value);
    return;
  }
  counter.value.reset();
  counter.reason =
      fmt::format("its counts contradict each other: they give {:.6g}, a share is 0 to 1", value);
}

std::string_view to_string(Status status) {
  return kStatuses[static_cast<std::size_t>(status)];
}
std::string_view to_string(Verdict verdict) {
  return kVerdicts[static_cast<std::size_t>(verdict)];
}

json to_json(const Record& record) {
  json counters = json::object();
  for (const auto& [name, counter] : record.counters) counters[name] = counter_json(counter);
  return {{"schema", kRecordSchema},
          {"sweep", record.sweep},
          {"case", record.case_id},
          {"variant", record.variant_id},
          {"params", params_json(record)},
          {"asked", asked_json(record)},
          {"kind", kKinds[static_cast<std::size_t>(record.kind)]},
          {"status", to_string(record.status)},
          {"reason", text(record.reason)},
          {"verify", record.verify ? verify_json(*record.verify) : json(nullptr)},
          {"time_ns", record.time ? timing_json(*record.time) : json(nullptr)},
          {"permute_ns", record.permute_ns ? json{{"median", number(*record.permute_ns)}} : json(nullptr)},
          {"flops", number(record.flops)},
          {"min_bytes", number(record.min_bytes)},
          {"tflops", number(record.tflops)},
          {"memory_bytes", number(record.memory_bytes)},
          {"comm_bytes", number(record.comm_bytes)},
          {"counters", std::move(counters)},
          {"speedup", record.speedup ? speedup_json(*record.speedup) : json(nullptr)},
          {"environment", record.environment}};
}

Record record_from_json(const json& from) {
  if (const std::int64_t schema = integer_at(from, "schema"); schema != kRecordSchema)
    fail(fmt::format("its schema is {}", schema));
  Record record;
  record.sweep = string_at(from, "sweep");
  record.case_id = string_at(from, "case");
  record.variant_id = string_at(from, "variant");
  record.kind = name_at<RecordKind>(from, "kind", kKinds);
  record.status = name_at<Status>(from, "status", kStatuses);
  record.reason = text_at(from, "reason");
  record.environment = member(from, "environment");
  const json& params = member(from, "params");
  const json& asked = member(from, "asked");
  record.work = case_from(params, asked);
  record.kernel = string_at(params, "kernel");
  record.variant = variant_from(record, params, asked);
  record.order_chunk = positive_at(params, "order_chunk");
  record.threads = integer_at(params, "threads");
  record.ring_algorithm = text_at(params, "ring_algorithm");
  record.transport = text_at(params, "transport");
  record.cache = string_at(params, "cache");
  read_results(from, record);
  return record;
}

std::int64_t foreign_processes(const Record& record) {
  const auto state = record.environment.find("device_state");
  if (state == record.environment.end() || !state->is_object()) return 0;
  const nlohmann::json foreign = state->value("foreign_processes", nlohmann::json());
  return foreign.is_number_integer() ? foreign.get<std::int64_t>() : 0;
}

}  // namespace hilbench
