#include "harness/counters/counters.hpp"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <stdexcept>

#include "harness/counters/backends.hpp"
#include "harness/counters/cuda_driver.hpp"

namespace hilbench {

// sets/*.yaml, built into the program.
std::string_view embedded_counter_nvml();
std::string_view embedded_counter_perf();
std::string_view embedded_counter_sm_61();
std::string_view embedded_counter_sm_75();
std::string_view embedded_counter_sm_80();
std::string_view embedded_counter_sm_90();

namespace {

// A name, a list of them, or nothing.
std::vector<std::string> parse_names(const YAML::Node& node) {
  if (!node) return {};
  if (node.IsScalar()) return {node.as<std::string>()};
  return node.as<std::vector<std::string>>();
}

OverRanks parse_ranks(const YAML::Node& event) {
  if (const YAML::Node ranks = event["ranks"])
    return ranks.as<std::string>() == "none" ? OverRanks::none : OverRanks::mean;
  const auto unit = event["unit"].as<std::string>();
  return unit == "percent" || unit == "ratio" ? OverRanks::mean : OverRanks::sum;
}

CounterSet parse_set(const YAML::Node& node, const YAML::Node& file) {
  CounterSet set;
  set.name = node["name"].as<std::string>();
  set.help = node["help"].as<std::string>();
  set.backend = file["backend"].as<std::string>();
  if (const YAML::Node range = file["compute_capability"]) {
    set.first = range[0].as<int>();
    set.last = range[1].as<int>();
  }
  if (const YAML::Node passes = node["passes"]) set.passes = passes.as<std::map<std::string, int>>();
  for (const YAML::Node& event : node["events"])
    set.events.push_back({event["name"].as<std::string>(), event["event"].as<std::string>(),
                          event["unit"].as<std::string>(), parse_ranks(event)});
  for (const YAML::Node& derived : node["derived"])
    set.derived.push_back({derived["name"].as<std::string>(), derived["unit"].as<std::string>(),
                           parse_names(derived["numerator"]), parse_names(derived["denominator"]),
                           derived["offset"].as<double>(0), derived["scale"].as<double>(1)});
  return set;
}

// The files of sets/ in this build, one for each backend and range of architectures.
std::vector<CounterSet> parse_sets() {
  std::vector<CounterSet> sets;
  for (const std::string_view text :
       {embedded_counter_perf(), embedded_counter_sm_61(), embedded_counter_sm_75(), embedded_counter_sm_80(),
        embedded_counter_sm_90(), embedded_counter_nvml()}) {
    const YAML::Node file = YAML::Load(std::string(text));
    for (const YAML::Node& node : file["sets"]) sets.push_back(parse_set(node, file));
  }
  return sets;
}

}  // namespace

std::string target_name(CounterTarget target) {
  if (target == kCpuTarget) return "the CPU";
  return fmt::format("compute capability {}.{}", target / 10, target % 10);
}

const std::vector<CounterSet>& counter_sets() {
  static const std::vector<CounterSet> sets = parse_sets();
  return sets;
}

const CounterSet* find_counter_set(std::string_view name, CounterTarget target) {
  for (const CounterSet& set : counter_sets())
    if (set.name == name && set.first <= target && target <= set.last) return &set;
  return nullptr;
}

CounterSet counter_set(std::string_view name, CounterTarget target) {
  if (const CounterSet* found = find_counter_set(name, target)) return *found;
  const CounterSet* nearest = nullptr;  // of the same kind of device, if any
  for (const CounterSet& set : counter_sets())
    if (set.name == name && (nearest == nullptr || (set.last > kCpuTarget) == (target != kCpuTarget)))
      nearest = &set;
  if (nearest == nullptr) throw std::out_of_range(fmt::format("no counter set '{}'", name));
  CounterSet set = *nearest;
  set.unavailable = target < kCpuTarget
                        ? "no CUDA device answers; see `hilbench doctor`"
                        : fmt::format("there is no counter set '{}' for {}", name, target_name(target));
  return set;
}

CounterTarget counter_target(DeviceKind device) {
  return device == DeviceKind::cuda ? CudaDriver::get().capability() : kCpuTarget;
}

std::unique_ptr<CounterBackend> open_counters(const CounterSet& set, int threads) {
  if (!set.unavailable.empty()) return open_none(set, set.unavailable);
  if (set.backend == "perf") return open_perf(set, threads);
  if (set.backend == "cupti_range") return open_cupti_range(set);
  if (set.backend == "cupti_events") return open_cupti_events(set);
  if (set.backend == "nvml") return open_nvml_links(set);
  return open_none(set, fmt::format("this build has no counter backend '{}'", set.backend));
}

void close_counters() {
  close_cupti_range();
}

std::map<std::string, Counter> count(const CounterSet& set, int threads, const std::function<void()>& restore,
                                     const std::function<void()>& work) {
  const std::unique_ptr<CounterBackend> backend = open_counters(set, threads);
  for (int pass = 0; pass < backend->passes(); ++pass) {
    restore();
    backend->begin(pass);
    work();
    backend->end(pass);
  }
  RawCounts raw = backend->read();
  raw[kRingBytes] = {.reason = "one rank exchanges nothing"};
  return finish_counters(set, raw, set.backend, backend->passes());
}

}  // namespace hilbench
