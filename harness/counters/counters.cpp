#include "harness/counters/counters.hpp"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "harness/counters/backends.hpp"
#include "harness/embedded.hpp"

namespace hilbench {
namespace {

CounterSet parse_set(const YAML::Node& node, const std::string& backend) {
  CounterSet set;
  set.name = node["name"].as<std::string>();
  set.help = node["help"].as<std::string>();
  set.backend = backend;
  for (const YAML::Node& event : node["events"])
    set.events.push_back(
        {event["name"].as<std::string>(), event["event"].as<std::string>(), event["unit"].as<std::string>()});
  for (const YAML::Node& derived : node["derived"])
    set.derived.push_back({derived["name"].as<std::string>(), derived["unit"].as<std::string>(),
                           derived["numerator"].as<std::string>(), derived["denominator"].as<std::string>(),
                           derived["offset"].as<double>(0), derived["scale"].as<double>(1)});
  return set;
}

// The files of sets/ in this build, one for each backend and architecture.
std::vector<CounterSet> parse_sets() {
  std::vector<CounterSet> sets;
  for (const std::string_view text : {embedded_counter_perf()}) {
    const YAML::Node file = YAML::Load(std::string(text));
    for (const YAML::Node& node : file["sets"])
      sets.push_back(parse_set(node, file["backend"].as<std::string>()));
  }
  return sets;
}

}  // namespace

const std::vector<CounterSet>& counter_sets() {
  static const std::vector<CounterSet> sets = parse_sets();
  return sets;
}

const CounterSet* find_counter_set(std::string_view name) {
  for (const CounterSet& set : counter_sets())
    if (set.name == name) return &set;
  return nullptr;
}

std::unique_ptr<CounterBackend> open_counters(const CounterSet& set, int threads) {
  if (set.backend == "perf") return open_perf(set, threads);
  return open_none(set, fmt::format("this build has no counter backend '{}'", set.backend));
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
  return finish_counters(set, backend->read(), set.backend, backend->passes());
}

}  // namespace hilbench
