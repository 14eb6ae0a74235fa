#include "harness/counters/counters.hpp"

#include <fmt/format.h>

#include <limits>
#include <optional>
#include <stdexcept>

#include "harness/counters/backends.hpp"
#include "harness/counters/cuda_driver.hpp"
#include "kernels/base/text/yaml.hpp"

namespace hilbench {

// sets/*.yaml, built into the program.
std::string_view embedded_counter_nvml();
std::string_view embedded_counter_perf();
std::string_view embedded_counter_sm_61();
std::string_view embedded_counter_sm_75();
std::string_view embedded_counter_sm_80();
std::string_view embedded_counter_sm_90();

namespace {

// A name, a list of names, or nothing.
std::vector<std::string> parse_names(const std::optional<YamlValue>& value) {
  std::vector<std::string> names;
  if (value)
    for (const YamlValue& name : value->scalar_or_items()) names.push_back(name.text());
  return names;
}

std::string text_at(const YamlValue& map, std::string_view key) {
  const std::optional<YamlValue> value = map.find(key);
  if (!value) map.fail(fmt::format("'{}' is missing", key));
  return value->text();
}

double number_at(const YamlValue& map, std::string_view key, double otherwise) {
  constexpr double kMost = std::numeric_limits<double>::max();
  const std::optional<YamlValue> value = map.find(key);
  return value ? value->number(-kMost, kMost) : otherwise;
}

int whole(const YamlValue& value) {
  return static_cast<int>(value.integer(0, std::numeric_limits<int>::max()));
}

std::vector<YamlValue> items_at(const YamlValue& map, std::string_view key) {
  const std::optional<YamlValue> value = map.find(key);
  return value ? value->items() : std::vector<YamlValue>();
}

OverRanks parse_ranks(const YamlValue& event) {
  if (event.find("ranks")) return text_at(event, "ranks") == "none" ? OverRanks::none : OverRanks::mean;
  const std::string unit = text_at(event, "unit");
  return unit == "percent" || unit == "ratio" ? OverRanks::mean : OverRanks::sum;
}

CounterSet parse_set(const YamlValue& value, const YamlValue& file) {
  CounterSet set;
  set.name = text_at(value, "name");
  set.help = text_at(value, "help");
  set.backend = text_at(file, "backend");
  if (const std::vector<YamlValue> range = items_at(file, "compute_capability"); !range.empty()) {
    set.first = whole(range.front());
    set.last = whole(range.back());
  }
  if (const std::optional<YamlValue> passes = value.find("passes"))
    for (const auto& [chip, count] : passes->entries()) set.passes[chip] = whole(count);
  for (const YamlValue& event : items_at(value, "events"))
    set.events.push_back(
        {text_at(event, "name"), text_at(event, "event"), text_at(event, "unit"), parse_ranks(event)});
  for (const YamlValue& derived : items_at(value, "derived"))
    set.derived.push_back({text_at(derived, "name"), text_at(derived, "unit"),
                           parse_names(derived.find("numerator")), parse_names(derived.find("denominator")),
                           number_at(derived, "offset", 0), number_at(derived, "scale", 1)});
  return set;
}

// The files of sets/ in this build, one for each backend and range of architectures.
std::vector<CounterSet> parse_sets() {
  const std::string place = "counter sets of this build";
  std::vector<CounterSet> sets;
  for (const std::string_view text :
       {embedded_counter_perf(), embedded_counter_sm_61(), embedded_counter_sm_75(), embedded_counter_sm_80(),
        embedded_counter_sm_90(), embedded_counter_nvml()}) {
    const YamlNode document = parse_yaml(std::string(text), place);
    const YamlValue file(document, place, "");
    for (const YamlValue& set : items_at(file, "sets")) sets.push_back(parse_set(set, file));
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
  const CounterSet* nearest = nullptr;  // for the same kind of device if there is one
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
                                     const std::function<void()>& body) {
  const std::unique_ptr<CounterBackend> backend = open_counters(set, threads);
  for (int pass = 0; pass < backend->passes(); ++pass) {
    restore();
    backend->begin(pass);
    body();
    backend->end(pass);
  }
  RawCounts raw = backend->read();
  raw[kRingBytes] = {.reason = "one rank exchanges nothing"};
  return finish_counters(set, raw, set.backend, backend->passes());
}

}  // namespace hilbench
