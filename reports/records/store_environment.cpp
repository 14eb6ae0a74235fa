#include "reports/records/store_environment.hpp"

#include <array>
#include <nlohmann/json.hpp>

namespace hilbench {

using nlohmann::json;

namespace {

// Members of an environment that change from record to record.
constexpr std::array<const char*, 3> kVaryingMembers = {"/time", "/host/load_average",
                                                        "/host/available_memory_bytes"};

}  // namespace

json take_varying(json& environment) {
  json varying = json::object();
  for (const char* name : kVaryingMembers) {
    const json::json_pointer pointer(name);
    if (!environment.contains(pointer)) continue;
    varying[name] = std::move(environment[pointer]);
    environment[pointer.parent_pointer()].erase(pointer.back());
  }
  return varying;
}

json put_back(json environment, const json& varying) {
  for (const auto& [name, value] : varying.items()) environment[json::json_pointer(name)] = value;
  return environment;
}

}  // namespace hilbench
