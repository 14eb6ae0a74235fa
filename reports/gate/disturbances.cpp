#include "reports/gate/disturbances.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "reports/gate/cores_had.hpp"
#include "reports/records/stats.hpp"

namespace hilbench {
namespace {

using nlohmann::json;

std::optional<double> number_in(const json& from, const char* name) {
  const auto found = from.find(name);
  if (found == from.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

const json* processes_of(const Record& record) {
  if (!record.environment->is_object()) return nullptr;
  const auto found = record.environment->find("processes");
  return found == record.environment->end() || !found->is_array() ? nullptr : &*found;
}

}  // namespace

void Disturbances::add_processes(const Record& record) {
  for (const json& process : *processes_of(record)) {
    if (!process.is_object()) continue;
    if (const auto cores = number_in(process, "other_busy_cores")) busy_.push_back(*cores);
    const auto stolen = number_in(process, "steal_s"), seconds = number_in(process, "seconds");
    if (stolen && seconds && *seconds > 0) steal_.push_back(*stolen / *seconds);
  }
}

void Disturbances::add(std::span<const Record> records) {
  std::set<std::string_view> counted;  // cases
  for (const Record& record : records) {
    if (processes_of(record) != nullptr && counted.insert(record.case_id).second) {
      add_processes(record);
      for (const CoresHad& had : cores_had(record)) {
        if (had.share) shares_.push_back(*had.share);
        if (had.throttled) throttled_.push_back(*had.throttled);
      }
    }
    if (foreign_processes(record) > 0) gpu_.insert("another process used the GPU");
    for (const std::string& reason : throttle_reasons(record))
      if (reason.find("thermal") != std::string::npos) gpu_.insert("the GPU was throttled: " + reason);
  }
}

std::vector<std::string> Disturbances::of_host(double cores) const {
  std::vector<std::string> found;
  if (cores <= 0) return found;
  if (!busy_.empty() && median(busy_) > kOthersAllowed * cores)
    found.push_back(fmt::format("other programs kept {:.1f} of {} cores busy", median(busy_), cores));
  if (!steal_.empty() && median(steal_) > kStealAllowed * cores)
    found.push_back(fmt::format("the hypervisor took {:.1f} of {} cores away", median(steal_), cores));
  return found;
}

std::vector<std::string> Disturbances::of_processors() const {
  std::vector<std::string> found;
  if (!shares_.empty() && median(shares_) < kLeastShare)
    found.push_back(fmt::format("the processes had only {:.0f} % of their cores", 100 * median(shares_)));
  if (!throttled_.empty() && median(throttled_) > kThrottledAllowed)
    found.push_back("a quota throttled the processes");
  return found;
}

std::vector<std::string> Disturbances::sentences(double cores) const {
  std::vector<std::string> found = of_gpu();
  for (std::string& sentence : of_host(cores)) found.push_back(std::move(sentence));
  for (std::string& sentence : of_processors()) found.push_back(std::move(sentence));
  return found;
}

double cores_of(std::span<const Record> records) {
  for (const Record& record : records) {
    if (!record.environment->is_object()) continue;
    const auto host = record.environment->find("host");
    if (host == record.environment->end() || !host->is_object()) continue;
    if (const auto cores = number_in(*host, "cores")) return *cores;
  }
  return 0;
}

}  // namespace hilbench
