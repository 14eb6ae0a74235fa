#include "reports/view/compared_runs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "kernels/base/text/text.hpp"
#include "reports/view/environment_values.hpp"
#include "reports/view/format.hpp"
#include "reports/view/pairing.hpp"

namespace hilbench {
namespace {

// Why the record has no time to compare; empty if it has one.
std::string untimed(const Record& record, std::string_view run) {
  if (record.status != Status::ok) return fmt::format("{} in {}", to_string(record.status), run);
  if (!record.time || !(record.time->median_ns > 0) || record.time->samples_ns.empty())
    return fmt::format("no time in {}", run);
  if (foreign_processes(record) > 0) return fmt::format("withheld: another process used the GPU in {}", run);
  return "";
}

std::string differences(const Record& a, const Record& b) {
  std::vector<std::string> parts;
  const auto add = [&](std::string_view name, const auto& of_a, const auto& of_b) {
    if (of_a != of_b) parts.push_back(fmt::format("{} {} / {}", name, of_a, of_b));
  };
  add("kernel", a.kernel, b.kernel);
  add("threads", a.threads, b.threads);
  add("chunk", a.order_chunk, b.order_chunk);
  add("cache", a.cache, b.cache);
  add("steady", steady_text(a), steady_text(b));
  add("algorithm", a.ring_algorithm, b.ring_algorithm);
  add("groups", a.ring_groups, b.ring_groups);
  add("transport", a.transport, b.transport);
  if (a.time && b.time) add("timer", a.time->timer, b.time->timer);
  return fmt::format("{}", fmt::join(parts, ", "));
}

bool changes_with_every_record(std::string_view key) {
  constexpr std::array<std::string_view, 8> kKeys = {"time",
                                                     "processes",
                                                     "host.load_average",
                                                     "host.available_memory_bytes",
                                                     "device_state.sm_mhz",
                                                     "device_state.memory_mhz",
                                                     "device_state.temperature_c",
                                                     "device_state.power_w"};
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

std::vector<ComparedRuns::Difference> environment_differences(const View& a, const View& b) {
  const EnvironmentValues of_a = environment_values(a), of_b = environment_values(b);
  std::vector<ComparedRuns::Difference> found;
  EnvironmentValues keys = of_a;
  keys.insert(of_b.begin(), of_b.end());
  const auto values = [](const EnvironmentValues& from, const std::string& key) {
    const auto at = from.find(key);
    std::vector<std::string> sorted = at == from.end() ? std::vector<std::string>{"unknown"} : at->second;
    std::replace(sorted.begin(), sorted.end(), std::string(), std::string("none"));
    std::sort(sorted.begin(), sorted.end());
    return sorted;
  };
  for (const auto& [key, ignored] : keys) {
    const auto in_a = values(of_a, key), in_b = values(of_b, key);
    if (in_a != in_b && !changes_with_every_record(key))
      found.push_back({key, values_text(in_a), values_text(in_b)});
  }
  const auto importance = [](const ComparedRuns::Difference& difference) {
    return difference.key == "host.cpu" ? 0 : difference.key == "device.name" ? 1 : 2;
  };
  std::stable_sort(found.begin(), found.end(),
                   [&](const auto& x, const auto& y) { return importance(x) < importance(y); });
  return found;
}

}  // namespace

RunPair run_pair(const Record& a, const Record& b) {
  RunPair pair{.a = &a, .b = &b, .withheld = untimed(a, "A"), .differs = differences(a, b)};
  if (pair.withheld.empty()) pair.withheld = untimed(b, "B");
  if (pair.withheld.empty() && computes_other_function(a) != computes_other_function(b))
    pair.withheld = fmt::format("{} computes a different function", computes_other_function(a) ? "A" : "B");
  if (!pair.withheld.empty()) return pair;
  pair.ratio = unpaired_time_ratio(a, b);
  if (!pair.ratio) pair.withheld = "the rounds do not add up to the samples";
  return pair;
}

ComparedRuns compare_runs(const ReportInput& a, const ReportInput& b) {
  ComparedRuns runs{
      .a = view_of(a), .b = view_of(b), .pairs = {}, .only_a = {}, .only_b = {}, .environment = {}};
  std::map<std::pair<std::string_view, std::string_view>, const Record*> left;
  for (const Record& record : b.records)
    if (!record.twin) left[{record.case_id, record.variant_id}] = &record;
  for (const Record& record : a.records) {
    if (record.twin) continue;
    const auto other = left.find({record.case_id, record.variant_id});
    if (other == left.end()) {
      runs.only_a.push_back(&record);
    } else {
      runs.pairs.push_back(run_pair(record, *other->second));
      left.erase(other);
    }
  }
  for (const Record& record : b.records)
    if (left.contains({record.case_id, record.variant_id})) runs.only_b.push_back(&record);
  runs.environment = environment_differences(runs.a, runs.b);
  return runs;
}

}  // namespace hilbench
