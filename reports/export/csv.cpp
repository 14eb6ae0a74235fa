// Records, or their samples, as comma-separated values (RFC 4180).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

#include "kernels/base/text/text.hpp"
#include "reports/export/digits.hpp"
#include "reports/export/formats.hpp"
#include "reports/view/format.hpp"
#include "reports/view/table.hpp"

namespace hilbench {
namespace {

using nlohmann::json;

// A value as text of a field: null is empty; spaces separate the members of a list.
std::string field_of(const json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return value.dump();
  std::vector<std::string> members;
  for (const json& member : value) members.push_back(field_of(member));
  return fmt::format("{}", fmt::join(members, " "));
}

struct Source {
  const Record& record;
  json body;  // of the record
};

struct CsvColumn {
  std::string name;
  std::function<std::string(const Source&)> text;
};

class Columns {
 public:
  // The member of the record's JSON at a pointer.
  void member(const std::string& name, const json::json_pointer& place) {
    computed(name, [place](const Source& source) {
      return source.body.contains(place) ? field_of(source.body.at(place)) : std::string();
    });
  }
  void member(const std::string& name, const std::string& place) { member(name, json::json_pointer(place)); }
  void computed(const std::string& name, std::function<std::string(const Source&)> text) {
    columns_.push_back({name, std::move(text)});
  }
  const std::vector<CsvColumn>& list() const { return columns_; }

 private:
  std::vector<CsvColumn> columns_;
};

// NAME, NAME_ci_low and NAME_ci_high, of whose digits the interval says how many there are.
template <class Number, class Range>
void add_measured(Columns& columns, const std::array<std::string, 3>& names, Number number, Range range) {
  const auto with = [number, range](auto pick) {
    return [=](const Source& source) -> std::string {
      const std::optional<double> value = number(source.record);
      if (!value) return "";
      const Interval ci = range(source.record);
      return supported_text(pick(*value, ci), ci);
    };
  };
  columns.computed(names[0], with([](double value, const Interval&) { return value; }));
  if (names[1].empty()) return;
  columns.computed(names[1], with([](double, const Interval& ci) { return ci.low; }));
  columns.computed(names[2], with([](double, const Interval& ci) { return ci.high; }));
}

std::optional<double> median_of(const Record& record) {
  return record.time ? std::optional(record.time->median_ns) : std::nullopt;
}

void add_identity(Columns& columns) {
  for (const char* name : {"sweep", "case", "variant", "twin", "kind", "status", "reason"})
    columns.member(name, fmt::format("/{}", name));
  columns.member("injected", "/asked/injected");
}

void add_times(Columns& columns) {
  add_measured(columns, {"time_median_ns", "time_ci_low_ns", "time_ci_high_ns"}, median_of,
               [](const Record& record) { return record.time->ci_ns; });
  columns.member("time_samples_ns", "/time_ns/samples");
  columns.member("timer", "/time_ns/timer");
  columns.member("energy_median_j", "/energy_j/median");
  columns.member("energy_samples_j", "/energy_j/samples");
  columns.member("energy_source", "/energy_j/source");
  columns.member("energy_reason", "/energy_j/reason");
  columns.member("permute_median_ns", "/permute_ns/median");
  for (const char* name : {"flops", "min_bytes"}) columns.member(name, fmt::format("/{}", name));
  add_measured(
      columns, {"tflops"}, [](const Record& record) { return record.tflops; },
      [](const Record& record) {
        return record.time ? rate_interval(*record.tflops, *record.time) : Interval{};
      });
  for (const char* name :
       {"memory_bytes", "held_bytes", "peak_bytes", "comm_bytes", "comm_bytes_inside", "comm_bytes_between"})
    columns.member(name, fmt::format("/{}", name));
}

void add_speedup(Columns& columns) {
  columns.member("speedup_against", "/speedup/against");
  add_measured(
      columns, {"speedup_ratio", "speedup_ci_low", "speedup_ci_high"},
      [](const Record& record) {
        return record.speedup ? std::optional(record.speedup->ratio) : std::nullopt;
      },
      [](const Record& record) { return record.speedup->ci; });
  columns.member("speedup_processes", "/speedup/processes");
  columns.member("speedup_margin", "/speedup/margin");
  columns.member("speedup_verdict", "/speedup/verdict");
}

void add_counters(Columns& columns, const std::vector<Record>& records) {
  std::set<std::string> counters;
  for (const Record& record : records)
    for (const auto& [name, counter] : record.counters) counters.insert(name);
  for (const std::string& name : counters)
    columns.member("counter_" + name, json::json_pointer("/counters") / name / "value");
}

void add_machine(Columns& columns, std::string_view hostname) {
  columns.member("host_cpu", "/environment/host/cpu");
  columns.computed("hostname", [name = std::string(hostname)](const Source&) { return name; });
  columns.member("gpu_name", "/environment/device/name");
  columns.member("gpu_driver", "/environment/device_state/driver");
  columns.member("gpu_power_limit_w", "/environment/device_state/power_limit_w");
  for (const char* clock : {"sm_mhz", "memory_mhz"}) {
    columns.member(fmt::format("gpu_{}_least", clock), fmt::format("/environment/device_state/{}/0", clock));
    columns.member(fmt::format("gpu_{}_most", clock), fmt::format("/environment/device_state/{}/1", clock));
  }
  columns.member("build_commit", "/environment/build/commit");
  columns.member("measured_at", "/environment/time");
}

template <class Text>
void write_row(std::size_t fields, std::ostream& out, const Text& text) {
  for (std::size_t i = 0; i < fields; ++i) out << (i == 0 ? "" : ",") << csv_field(printable(text(i)));
  out << "\r\n";
}

std::string sample_text(const std::vector<double>& samples, std::size_t i) {
  return i < samples.size() ? data_text(samples[i]) : "";
}

}  // namespace

void export_csv(const std::vector<Record>& records, std::string_view hostname, std::ostream& out) {
  Columns columns;
  add_identity(columns);
  const json params = to_json(Record{}).at("params");
  for (const auto& item : params.items()) columns.member(item.key(), "/params/" + item.key());
  for (const char* name : {"max_abs", "rel_l2", "lse_max_abs", "rows", "tolerance", "worst", "probed_rows"})
    columns.member(fmt::format("verify_{}", name), fmt::format("/verify/{}", name));
  for (const char* name : {"max_abs", "rows", "worst"})
    columns.member(fmt::format("verify_after_{}", name), fmt::format("/verify/after/{}", name));
  columns.member("verify_poisoned_rounds", "/verify/poisoned_rounds");
  add_times(columns);
  add_speedup(columns);
  add_counters(columns, records);
  add_machine(columns, hostname);
  const std::vector<CsvColumn>& list = columns.list();
  write_row(list.size(), out, [&](std::size_t i) { return list[i].name; });
  for (const Record& record : records) {
    const Source source{record, to_json(record)};
    write_row(list.size(), out, [&](std::size_t i) { return list[i].text(source); });
  }
}

// Samples are what was measured, so they keep all digits.
void export_csv_samples(const std::vector<Record>& records, std::ostream& out) {
  const std::vector<std::string> names = {"sweep", "case",  "variant", "twin",     "injected", "process",
                                          "seed",  "round", "time_ns", "energy_j", "timer"};
  write_row(names.size(), out, [&](std::size_t i) { return names[i]; });
  for (const Record& record : records) {
    if (!record.time) continue;
    const json seeds =
        record.environment->is_object() ? record.environment->value("processes", json()) : json();
    std::size_t sample = 0;
    for (std::size_t process = 0; process < record.time->process_rounds.size(); ++process) {
      const json::json_pointer seed(fmt::format("/{}/seed", process));
      const bool known = seeds.is_array() && seeds.contains(seed);
      const std::vector<std::string> head = {record.sweep,
                                             record.case_id,
                                             record.variant_id,
                                             record.twin ? "true" : "false",
                                             data_text(record.injected),
                                             std::to_string(process),
                                             known ? field_of(seeds.at(seed)) : ""};
      for (std::int64_t round = 0; round < record.time->process_rounds[process]; ++round, ++sample) {
        std::vector<std::string> row = head;
        row.push_back(std::to_string(round));
        row.push_back(sample_text(record.time->samples_ns, sample));
        row.push_back(record.energy ? sample_text(record.energy->samples_j, sample) : "");
        row.push_back(record.time->timer);
        write_row(row.size(), out, [&](std::size_t i) { return row[i]; });
      }
    }
  }
}

}  // namespace hilbench
