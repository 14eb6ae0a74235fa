// Counters of a kernel that is counted in a process of its own, as its answer holds them.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "kernels/base/text/counter.hpp"

namespace hilbench {

inline nlohmann::json counters_json(const std::map<std::string, Counter>& counters) {
  nlohmann::json all = nlohmann::json::object();
  for (const auto& [name, counter] : counters)
    all[name] = {{"value", counter.value ? nlohmann::json(*counter.value) : nlohmann::json()},
                 {"unit", counter.unit},
                 {"source", counter.source},
                 {"passes", counter.passes},
                 {"reason", counter.reason}};
  return all;
}

// Throws nlohmann::json::exception if they are not of this form.
inline std::map<std::string, Counter> counters_from_json(const nlohmann::json& json) {
  std::map<std::string, Counter> counters;
  for (const auto& [name, each] : json.items()) {
    Counter& counter = counters[name];
    if (!each.at("value").is_null()) counter.value = each.at("value").get<double>();
    counter.unit = each.at("unit");
    counter.source = each.at("source");
    counter.passes = each.at("passes");
    counter.reason = each.at("reason");
  }
  return counters;
}

}  // namespace hilbench
