// Formats of services that follow results over commits: Bencher, and github-action-benchmark.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "reports/export/formats.hpp"

namespace hilbench {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

ordered_json metric(double value, const Interval& ci) {
  ordered_json made = {{"value", value}};
  if (std::isfinite(ci.low)) made["lower_value"] = ci.low;
  if (std::isfinite(ci.high)) made["upper_value"] = ci.high;
  return made;
}

}  // namespace

// Bencher Metric Format: benchmark -> measure -> value and bounds. `latency` is Bencher's own, in ns.
void export_bencher(const std::vector<Record>& records, std::ostream& out) {
  ordered_json benchmarks = ordered_json::object();
  for (const Record& record : records) {
    if (!compared_by_others(record)) continue;
    ordered_json& measures = benchmarks[record.case_id + "/" + record.variant_id];
    measures["latency"] = metric(record.time->median_ns, record.time->ci_ns);
    if (record.tflops && std::isfinite(*record.tflops)) measures["tflops"] = {{"value", *record.tflops}};
    if (record.speedup && std::isfinite(record.speedup->ratio))
      measures["speedup"] = metric(record.speedup->ratio, record.speedup->ci);
  }
  out << benchmarks.dump(2, ' ', false, json::error_handler_t::replace) << '\n';
}

// customSmallerIsBetter of github-action-benchmark.
void export_github(const std::vector<Record>& records, std::ostream& out) {
  ordered_json rows = ordered_json::array();
  for (const Record& record : records) {
    if (!compared_by_others(record)) continue;
    ordered_json row = {{"name", record.case_id + "/" + record.variant_id},
                        {"unit", "ns"},
                        {"value", record.time->median_ns}};
    const Interval& ci = record.time->ci_ns;
    if (std::isfinite(ci.low) && std::isfinite(ci.high))
      row["range"] = fmt::format("{:.6g} to {:.6g}", ci.low, ci.high);
    row["extra"] = fmt::format("{} samples, {}", record.time->samples_ns.size(), record.time->timer);
    rows.push_back(std::move(row));
  }
  out << rows.dump(2, ' ', false, json::error_handler_t::replace) << '\n';
}

}  // namespace hilbench
