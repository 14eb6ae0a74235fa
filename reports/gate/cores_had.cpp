#include "reports/gate/cores_had.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace hilbench {
namespace {

using nlohmann::json;

std::optional<double> amount_in(const json& process, const char* name) {
  const auto found = process.find(name);
  if (found == process.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

CoresHad had_by(const json& process) {
  const auto seconds = amount_in(process, "seconds"), throttled_s = amount_in(process, "throttled_s");
  CoresHad had{.share = amount_in(process, "processor_share"), .quota = amount_in(process, "quota_cores")};
  if (throttled_s && seconds && *seconds > 0) had.throttled = *throttled_s / *seconds;
  return had;
}

}  // namespace

bool CoresHad::enough() const {
  return share.value_or(1) >= kLeastShare && throttled.value_or(0) <= kThrottledAllowed;
}

std::vector<CoresHad> cores_had(const Record& record) {
  std::vector<CoresHad> all;
  if (record.work.device == DeviceKind::cuda || !record.time) return all;
  const json::json_pointer at("/processes");
  if (!record.environment->is_object() || !record.environment->contains(at)) return {CoresHad()};
  for (const json& process : record.environment->at(at))
    all.push_back(process.is_object() ? had_by(process) : CoresHad());
  return all;
}

std::string too_few_cores_text(const CoresHad& had) {
  const std::string quota = had.quota ? fmt::format("a quota of {:.4g} cores", *had.quota) : "a quota";
  const bool throttled = had.throttled.value_or(0) > kThrottledAllowed;
  if (!had.share) return fmt::format("{} throttled a process", quota);
  return fmt::format("a process had only {:.0f} % of its cores{}", 100 * *had.share,
                     throttled ? fmt::format(" ({} throttled it)", quota) : "");
}

}  // namespace hilbench
