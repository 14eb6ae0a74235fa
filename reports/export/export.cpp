#include "reports/export/export.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "kernels/base/error.hpp"
#include "kernels/base/text.hpp"
#include "reports/view/format.hpp"
#include "reports/view/table.hpp"

namespace hilbench {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::array<std::string_view, 7> kFormats = {"jsonl",   "csv",    "gbench",       "gbench-summary",
                                                      "bencher", "github", "github-bigger"};

void export_jsonl(const std::vector<Record>& records, std::ostream& out) {
  for (const Record& record : records) out << to_json(record).dump() << '\n';
}

struct Column {
  std::string name;
  json::json_pointer place;  // in the JSON of the record
};

std::vector<Column> columns_of(const std::vector<Record>& records) {
  std::vector<Column> columns;
  const auto add = [&](const std::string& name, const std::string& place) {
    columns.push_back({name, json::json_pointer(place)});
  };
  for (const char* name : {"sweep", "case", "variant", "twin", "kind", "status", "reason"})
    add(name, fmt::format("/{}", name));
  add("injected", "/asked/injected");
  const json params = to_json(Record{}).at("params");
  for (const auto& item : params.items()) add(item.key(), "/params/" + item.key());
  for (const char* name : {"max_abs", "rel_l2", "lse_max_abs", "rows", "tolerance", "worst", "probed_rows"})
    add(fmt::format("verify_{}", name), fmt::format("/verify/{}", name));
  add("time_median_ns", "/time_ns/median");
  add("time_ci_low_ns", "/time_ns/ci/0");
  add("time_ci_high_ns", "/time_ns/ci/1");
  add("time_samples_ns", "/time_ns/samples");
  add("timer", "/time_ns/timer");
  add("energy_median_j", "/energy_j/median");
  add("energy_samples_j", "/energy_j/samples");
  add("energy_source", "/energy_j/source");
  add("energy_reason", "/energy_j/reason");
  add("permute_median_ns", "/permute_ns/median");
  for (const char* name : {"flops", "min_bytes", "tflops", "memory_bytes", "comm_bytes", "comm_bytes_inside",
                           "comm_bytes_between"})
    add(name, fmt::format("/{}", name));
  add("speedup_against", "/speedup/against");
  add("speedup_ratio", "/speedup/ratio");
  add("speedup_ci_low", "/speedup/ci/0");
  add("speedup_ci_high", "/speedup/ci/1");
  add("speedup_processes", "/speedup/processes");
  add("speedup_margin", "/speedup/margin");
  add("speedup_verdict", "/speedup/verdict");
  std::set<std::string> counters;
  for (const Record& record : records)
    for (const auto& [name, counter] : record.counters) counters.insert(name);
  for (const std::string& name : counters)
    columns.push_back({"counter_" + name, json::json_pointer("/counters") / name / "value"});
  add("host_cpu", "/environment/host/cpu");
  add("build_commit", "/environment/build/commit");
  add("measured_at", "/environment/time");
  return columns;
}

// A value as text of a field: null is empty; spaces separate the members of a list.
std::string field_of(const json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::vector<std::string> members;
  for (const json& member : value) members.push_back(field_of(member));
  return fmt::format("{}", fmt::join(members, " "));
}

void export_csv(const std::vector<Record>& records, std::ostream& out) {
  const std::vector<Column> columns = columns_of(records);
  const auto write_row = [&](const auto& field_text) {
    for (std::size_t i = 0; i < columns.size(); ++i)
      out << (i == 0 ? "" : ",") << csv_field(printable(field_text(columns[i])));
    out << "\r\n";
  };
  write_row([](const Column& column) { return column.name; });
  for (const Record& record : records) {
    const json body = to_json(record);
    write_row([&](const Column& column) {
      return body.contains(column.place) ? field_of(body.at(column.place)) : std::string();
    });
  }
}

// The machine as Google Benchmark describes it, from the first record.
ordered_json gbench_context(const std::vector<Record>& records) {
  const json environment = records.empty() ? json::object() : records.front().environment;
  const auto find = [&](const char* place, const json& otherwise) -> json {
    const json::json_pointer pointer(place);
    return environment.contains(pointer) ? environment.at(pointer) : otherwise;
  };
  const json ghz = find("/host/nominal_ghz", nullptr);
  ordered_json caches = ordered_json::array();
  for (const json& cache : find("/host/caches", json::array())) {
    if (!cache.is_object()) continue;
    const auto of_cache = [&](const char* key) { return cache.value(key, json(0)); };
    caches.push_back({{"type", of_cache("level") == 1 ? "Data" : "Unified"},
                      {"level", of_cache("level")},
                      {"size", of_cache("bytes")},
                      {"num_sharing", of_cache("shared_by")}});
  }
  return {{"date", find("/time", "")},
          {"host_name", find("/host/cpu", "")},
          {"executable", "hilbench"},
          {"num_cpus", find("/host/cores", 0)},
          {"mhz_per_cpu", ghz.is_number() ? std::lround(ghz.get<double>() * 1000) : 0},
          {"cpu_scaling_enabled", false},
          {"caches", std::move(caches)},
          {"load_avg", find("/host/load_average", json::array())},
          {"library_build_type", find("/build/build_type", "") == "Debug" ? "debug" : "release"}};
}

struct Repetition {
  std::size_t index = 0;
  std::size_t count = 1;
  std::size_t iterations = 1;
};

ordered_json gbench_row(const Record& record, std::size_t family, double ns, const Repetition& repetition) {
  const std::string name = record.case_id + "/" + record.variant_id;
  return {{"name", name},
          {"family_index", family},
          {"per_family_instance_index", 0},
          {"run_name", name},
          {"run_type", "iteration"},
          {"repetitions", repetition.count},
          {"repetition_index", repetition.index},
          {"threads", 1},
          {"iterations", repetition.iterations},
          {"real_time", ns},
          {"cpu_time", ns},
          {"time_unit", "ns"}};
}

// Other programs compare variants with each other; a twin is none, and injected work is no result.
bool timed(const Record& record) {
  return !record.twin && record.injected == 0 && record.status == Status::ok && record.time &&
         std::isfinite(record.time->median_ns);
}

enum class Rows { samples, medians };

void export_gbench(const std::vector<Record>& records, Rows rows, std::ostream& out) {
  ordered_json benchmarks = ordered_json::array();
  for (std::size_t family = 0; family < records.size(); ++family) {
    const Record& record = records[family];
    if (!timed(record)) continue;
    const std::vector<double>& samples = record.time->samples_ns;
    if (rows == Rows::medians) {
      benchmarks.push_back(gbench_row(record, family, record.time->median_ns,
                                      {.iterations = std::max<std::size_t>(1, samples.size())}));
      continue;
    }
    for (std::size_t i = 0; i < samples.size(); ++i)
      benchmarks.push_back(gbench_row(record, family, samples[i], {.index = i, .count = samples.size()}));
  }
  const ordered_json file = {{"context", gbench_context(records)}, {"benchmarks", std::move(benchmarks)}};
  out << file.dump(2) << '\n';
}

ordered_json metric(double value, const Interval& ci) {
  ordered_json made = {{"value", value}};
  if (std::isfinite(ci.low)) made["lower_value"] = ci.low;
  if (std::isfinite(ci.high)) made["upper_value"] = ci.high;
  return made;
}

// Bencher Metric Format: benchmark -> measure -> value and bounds. `latency` is Bencher's own, in ns.
void export_bencher(const std::vector<Record>& records, std::ostream& out) {
  ordered_json benchmarks = ordered_json::object();
  for (const Record& record : records) {
    if (!timed(record)) continue;
    ordered_json& measures = benchmarks[record.case_id + "/" + record.variant_id];
    measures["latency"] = metric(record.time->median_ns, record.time->ci_ns);
    if (record.tflops && std::isfinite(*record.tflops)) measures["tflops"] = {{"value", *record.tflops}};
    if (record.speedup && std::isfinite(record.speedup->ratio))
      measures["speedup"] = metric(record.speedup->ratio, record.speedup->ci);
  }
  out << benchmarks.dump(2, ' ', false, json::error_handler_t::replace) << '\n';
}

ordered_json github_row(const Record& record, std::string_view what, double value, const Interval& ci,
                        std::string_view unit) {
  ordered_json row = {{"name", fmt::format("{}/{}{}", record.case_id, record.variant_id, what)},
                      {"unit", unit},
                      {"value", value}};
  if (std::isfinite(ci.low) && std::isfinite(ci.high))
    row["range"] = fmt::format("{:.6g} to {:.6g}", ci.low, ci.high);
  row["extra"] = fmt::format("{} samples, {}", record.time->samples_ns.size(), record.time->timer);
  return row;
}

enum class Better { smaller, bigger };

// The two custom formats of github-action-benchmark: times, or speedups over the reference and rates.
void export_github(const std::vector<Record>& records, Better better, std::ostream& out) {
  constexpr Interval kNone = {std::numeric_limits<double>::infinity(),
                              std::numeric_limits<double>::infinity()};
  ordered_json rows = ordered_json::array();
  for (const Record& record : records) {
    if (!timed(record)) continue;
    if (better == Better::smaller) {
      rows.push_back(github_row(record, "", record.time->median_ns, record.time->ci_ns, "ns"));
      continue;
    }
    if (record.speedup && std::isfinite(record.speedup->ratio))
      rows.push_back(github_row(record, " speedup", record.speedup->ratio, record.speedup->ci,
                                "x " + record.speedup->against));
    if (record.tflops && std::isfinite(*record.tflops))
      rows.push_back(github_row(record, " rate", *record.tflops, kNone, "TFLOP/s"));
  }
  out << rows.dump(2, ' ', false, json::error_handler_t::replace) << '\n';
}

}  // namespace

std::span<const std::string_view> export_formats() {
  return kFormats;
}

void export_records(std::string_view format, const std::vector<Record>& records, std::ostream& out) {
  if (format == "jsonl") return export_jsonl(records, out);
  if (format == "csv") return export_csv(records, out);
  if (format == "gbench") return export_gbench(records, Rows::samples, out);
  if (format == "gbench-summary") return export_gbench(records, Rows::medians, out);
  if (format == "bencher") return export_bencher(records, out);
  if (format == "github") return export_github(records, Better::smaller, out);
  if (format == "github-bigger") return export_github(records, Better::bigger, out);
  const std::string nearest = nearest_name(format, kFormats);
  throw UsageError({.what = fmt::format("unknown export format '{}'", format),
                    .where = "--format",
                    .why = fmt::format("the formats are {}", fmt::join(kFormats, ", ")),
                    .remedy = nearest.empty() ? "" : fmt::format("did you mean '{}'?", nearest)});
}

}  // namespace hilbench
