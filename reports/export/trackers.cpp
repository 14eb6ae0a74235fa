// Formats of services that follow results over commits: Bencher, and github-action-benchmark.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

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

// The two custom formats of github-action-benchmark: times, or speedups over the reference and rates.
void export_github(const std::vector<Record>& records, Better better, std::ostream& out) {
  constexpr Interval kNone = {std::numeric_limits<double>::infinity(),
                              std::numeric_limits<double>::infinity()};
  ordered_json rows = ordered_json::array();
  for (const Record& record : records) {
    if (!compared_by_others(record)) continue;
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

}  // namespace hilbench
