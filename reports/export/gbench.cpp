// Google Benchmark's JSON.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "reports/export/formats.hpp"

namespace hilbench {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

// The machine as Google Benchmark describes it, from the first record.
ordered_json gbench_context(const std::vector<Record>& records) {
  const json environment = records.empty() ? json::object() : *records.front().environment;
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

ordered_json gbench_row(const Record& record, std::size_t family, std::size_t sample) {
  const std::vector<double>& samples = record.time->samples_ns;
  const std::string name = record.case_id + "/" + record.variant_id;
  return {{"name", name},
          {"family_index", family},
          {"per_family_instance_index", 0},
          {"run_name", name},
          {"run_type", "iteration"},
          {"repetitions", samples.size()},
          {"repetition_index", sample},
          {"threads", 1},
          {"iterations", 1},
          {"real_time", samples[sample]},
          {"cpu_time", samples[sample]},
          {"time_unit", "ns"}};
}

}  // namespace

void export_gbench(const std::vector<Record>& records, std::ostream& out) {
  ordered_json benchmarks = ordered_json::array();
  for (std::size_t family = 0; family < records.size(); ++family) {
    const Record& record = records[family];
    if (!compared_by_others(record)) continue;
    for (std::size_t sample = 0; sample < record.time->samples_ns.size(); ++sample)
      benchmarks.push_back(gbench_row(record, family, sample));
  }
  const ordered_json file = {{"context", gbench_context(records)}, {"benchmarks", std::move(benchmarks)}};
  out << file.dump(2, ' ', false, json::error_handler_t::replace) << '\n';
}

}  // namespace hilbench
