#include "reports/figures/data_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <vector>

namespace hilbench {

using nlohmann::json;

json number_json(double value) {
  if (!std::isfinite(value)) return nullptr;
  if (value == std::floor(value) && std::abs(value) < 1e15) return static_cast<std::int64_t>(value);
  return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr);
}

json interval_json(double value, const Interval& ci) {
  return {number_json(value), number_json(ci.low), number_json(ci.high)};
}

json measured_json(const std::optional<Measured>& ratio) {
  return ratio ? interval_json(ratio->ratio, ratio->ci) : json();
}

void put_known(json& into, const char* key, const std::optional<double>& value) {
  if (value && std::isfinite(*value)) into[key] = number_json(*value);
}
void put_known(json& into, const char* key, const std::string& text) {
  if (!text.empty()) into[key] = text;
}

json verification_json(const Verification& verify) {
  const RowCheck& worst = worst_check(verify);
  return {{"max_abs", number_json(worst.max_abs)},         {"tolerance", number_json(worst.tolerance)},
          {"worst", number_json(worst_share(worst))},      {"rel_l2", number_json(worst.rel_l2)},
          {"lse_max_abs", number_json(worst.lse_max_abs)}, {"rows", compared_rows(verify)}};
}

json timing_json(const Timing& time, bool samples) {
  json made = {{"ns", interval_json(time.median_ns, time.ci_ns)}, {"timer", time.timer}};
  made["rounds"] = time.process_rounds;
  if (samples) {
    json& held = made["samples"] = json::array();
    for (const double sample : time.samples_ns) held.push_back(number_json(sample));
  } else if (std::vector<double> sorted = time.samples_ns; !sorted.empty()) {
    std::sort(sorted.begin(), sorted.end());
    json& quartiles = made["quartiles"] = json::array();
    for (const std::size_t quarter : {0, 1, 2, 3, 4})
      quartiles.push_back(number_json(sorted[(sorted.size() - 1) * quarter / 4]));
  }
  return made;
}

std::pair<json, json> environment_parts(const json& environment) {
  json lasting = environment, passing = json::object();
  if (!lasting.is_object()) return {lasting, passing};
  for (const char* key : {"time", "device_state"})
    if (const auto found = lasting.find(key); found != lasting.end()) {
      passing[key] = *found;
      lasting.erase(found);
    }
  if (const auto host = lasting.find("host"); host != lasting.end() && host->is_object())
    for (const char* key : {"load_average", "available_memory_bytes"})
      if (const auto found = host->find(key); found != host->end()) {
        passing["host"][key] = *found;
        host->erase(found);
      }
  return {lasting, passing};
}

}  // namespace hilbench
