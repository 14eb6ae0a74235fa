// The JSON of NVIDIA's nvbench, as far as its nvbench_compare.py reads it. Times are in seconds, and numbers
// of summaries are texts.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "reports/export/formats.hpp"
#include "reports/records/stats.hpp"
#include "reports/view/format.hpp"

namespace hilbench {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr double kNsPerSecond = 1e9;

// What the record was measured on, without the id.
ordered_json device_of(const Record& record) {
  const json device = record.environment->is_object() ? record.environment->value("device", json()) : json();
  if (!device.is_object()) {
    const std::string cpu = environment_text(record, "host", "cpu");
    return {{"name", cpu.empty() ? std::string(to_string(record.work.device)) : cpu}};
  }
  ordered_json known = {{"name", environment_text(record, "device", "name")}};
  const auto copy = [&](const char* from, const char* to) {
    if (device.contains(from) && device.at(from).is_number()) known[to] = device.at(from);
  };
  copy("multiprocessors", "number_of_sms");
  copy("memory_bytes", "global_memory_size");
  copy("l2_bytes", "l2_cache_size");
  copy("shared_bytes", "max_shared_memory_per_sm");
  return known;
}

// The devices of all records, each once; its place is its id.
class Devices {
 public:
  std::size_t id_of(const Record& record) {
    ordered_json device = device_of(record);
    const auto found = std::find(devices_.begin(), devices_.end(), device);
    if (found != devices_.end()) return static_cast<std::size_t>(found - devices_.begin());
    devices_.push_back(std::move(device));
    return devices_.size() - 1;
  }
  ordered_json list() const {
    ordered_json made = ordered_json::array();
    for (std::size_t id = 0; id < devices_.size(); ++id) {
      made.push_back({{"id", id}});
      made.back().update(devices_[id]);
    }
    return made;
  }

 private:
  std::vector<ordered_json> devices_;
};

ordered_json summary(std::string_view tag, std::string_view name, std::string_view hint, double value) {
  return {{"tag", tag},
          {"name", name},
          {"hint", hint},
          {"description", ""},
          {"data", {{{"name", "value"}, {"type", "float64"}, {"value", data_text(value)}}}}};
}

// The value below which the share `q` of the sorted values lies, between neighbours by straight lines.
double quantile(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], at - static_cast<double>(below));
}

// In Hz, if it did not change during the timing: then it is its mean.
std::optional<double> constant_sm_clock(const Record& record) {
  const json::json_pointer place("/device_state/sm_mhz");
  if (!record.environment->contains(place)) return std::nullopt;
  const json& mhz = record.environment->at(place);
  const bool constant = mhz.is_array() && mhz.size() == 2 && mhz[0].is_number() && mhz[0] == mhz[1];
  return constant ? std::optional(mhz[0].get<double>() * 1e6) : std::nullopt;
}

// Of the samples of all processes. The tool calls them times of a GPU; they are times of the device of the
// record.
ordered_json summaries_of(const Record& record) {
  std::vector<double> seconds;
  for (const double ns : record.time->samples_ns)
    if (std::isfinite(ns)) seconds.push_back(ns / kNsPerSecond);
  ordered_json made = ordered_json::array();
  if (seconds.empty()) return made;
  std::sort(seconds.begin(), seconds.end());
  const Mean mean = mean_of(seconds);
  const double count = static_cast<double>(seconds.size());
  const double deviation = mean.error * std::sqrt(count);
  const double q1 = quantile(seconds, 0.25), q3 = quantile(seconds, 0.75);
  const auto add = [&](std::string_view tag, std::string_view name, std::string_view hint, double value) {
    made.push_back(summary(fmt::format("nv/cold/{}", tag), name, hint, value));
  };
  made.push_back(
      {{"tag", "nv/cold/sample_size"},
       {"name", "Samples"},
       {"hint", "sample_size"},
       {"description", ""},
       {"data", {{{"name", "value"}, {"type", "int64"}, {"value", std::to_string(seconds.size())}}}}});
  add("time/gpu/min", "Min GPU Time", "duration", seconds.front());
  add("time/gpu/max", "Max GPU Time", "duration", seconds.back());
  add("time/gpu/mean", "GPU Time", "duration", mean.value);
  add("time/gpu/q1", "Q1 GPU Time", "duration", q1);
  add("time/gpu/median", "Median GPU Time", "duration", quantile(seconds, 0.5));
  add("time/gpu/q3", "Q3 GPU Time", "duration", q3);
  if (seconds.size() > 1) {
    add("time/gpu/stdev/absolute", "Noise", "duration", deviation);
    add("time/gpu/stdev/relative", "Noise", "percentage", deviation / mean.value);
    add("time/gpu/iqr/absolute", "IQR", "duration", q3 - q1);
    add("time/gpu/iqr/relative", "IQR", "percentage", (q3 - q1) / quantile(seconds, 0.5));
  }
  if (const std::optional<double> hz = constant_sm_clock(record))
    add("sm_clock_rate/mean", "Clock Rate", "frequency", *hz);
  return made;
}

ordered_json axis_value(std::string_view name, const std::string& value) {
  return {{"name", name}, {"type", "string"}, {"value", value}};
}

ordered_json state_of(const Record& record, std::size_t device) {
  return {{"name", fmt::format("Device={} Case={} Variant={}", device, record.case_id, record.variant_id)},
          {"min_samples", record.time->samples_ns.size()},
          {"device", device},
          {"type_config_index", 0},
          {"axis_values", {axis_value("Case", record.case_id), axis_value("Variant", record.variant_id)}},
          {"summaries", summaries_of(record)},
          {"is_skipped", false}};
}

// An axis whose values are the texts that `text` gives of the states, each once.
ordered_json axis_of(std::string_view name, const std::vector<const Record*>& records,
                     std::string Record::*text) {
  ordered_json values = ordered_json::array();
  std::vector<std::string> seen;
  for (const Record* record : records) {
    const std::string& value = record->*text;
    if (std::find(seen.begin(), seen.end(), value) != seen.end()) continue;
    seen.push_back(value);
    values.push_back({{"input_string", value}, {"description", ""}, {"value", value}});
  }
  return {{"name", name}, {"type", "string"}, {"flags", ""}, {"values", std::move(values)}};
}

ordered_json benchmark_of(const std::string& sweep, std::size_t index,
                          const std::vector<const Record*>& records, Devices& devices) {
  ordered_json ids = ordered_json::array(), states = ordered_json::array();
  for (const Record* record : records) {
    const std::size_t id = devices.id_of(*record);
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
    states.push_back(state_of(*record, id));
  }
  return {{"name", sweep},
          {"index", index},
          {"devices", std::move(ids)},
          {"axes",
           {axis_of("Case", records, &Record::case_id), axis_of("Variant", records, &Record::variant_id)}},
          {"states", std::move(states)}};
}

}  // namespace

void export_nvbench(const std::vector<Record>& records, std::ostream& out) {
  std::vector<std::pair<std::string, std::vector<const Record*>>> sweeps;
  for (const Record& record : records) {
    if (!compared_by_others(record)) continue;
    const auto found = std::find_if(sweeps.begin(), sweeps.end(),
                                    [&](const auto& sweep) { return sweep.first == record.sweep; });
    if (found == sweeps.end())
      sweeps.push_back({record.sweep, {&record}});
    else
      found->second.push_back(&record);
  }
  Devices devices;
  ordered_json benchmarks = ordered_json::array();
  for (const auto& [sweep, of_sweep] : sweeps)
    benchmarks.push_back(benchmark_of(sweep, benchmarks.size(), of_sweep, devices));
  const ordered_json version = {{"major", 1}, {"minor", 0}, {"patch", 0}, {"string", "1.0.0"}};
  const ordered_json file = {{"meta", {{"argv", {"hilbench"}}, {"version", {{"json", version}}}}},
                             {"devices", devices.list()},
                             {"benchmarks", std::move(benchmarks)}};
  out << file.dump(2, ' ', false, json::error_handler_t::replace) << '\n';
}

}  // namespace hilbench
