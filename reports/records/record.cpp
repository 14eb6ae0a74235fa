#include "reports/records/record.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "kernels/base/text/text.hpp"
#include "reports/records/record_names.hpp"

namespace hilbench {

std::string_view to_string(Status status) {
  return kStatuses[static_cast<std::size_t>(status)];
}
std::string_view to_string(Verdict verdict) {
  return kVerdicts[static_cast<std::size_t>(verdict)];
}

bool measured_right(const Record& record) {
  return record.status == Status::ok && record.time && record.verify;
}

std::string protocol_text(const Protocol& protocol) {
  const std::string_view turn = kEndTurns[static_cast<std::size_t>(protocol.end)];
  return fmt::format("{} {}, {}{}, {}", protocol.runs, protocol.runs == 1 ? "run" : "runs",
                     protocol.end == EndTurn::interleaved ? "" : "end ", turn,
                     kCacheStates[static_cast<std::size_t>(protocol.cache)]);
}

bool computes_other_function(const Record& record) {
  return record.variant.kernel().order_scope != OrderScope::memory ||
         (record.verify && !record.verify->other_function.empty());
}

std::int64_t foreign_processes(const Record& record) {
  const auto state = record.environment->find("device_state");
  return state == record.environment->end() ? 0 : foreign_processes(*state);
}

std::int64_t foreign_processes(const nlohmann::json& device_state) {
  if (!device_state.is_object()) return 0;
  const nlohmann::json foreign = device_state.value("foreign_processes", nlohmann::json());
  return foreign.is_number_integer() ? foreign.get<std::int64_t>() : 0;
}

std::string steady_text(const Record& record) {
  return record.steady_s > 0 ? fmt::format("{:g} s", record.steady_s) : "no";
}

std::vector<std::string> throttle_reasons(const Record& record) {
  std::vector<std::string> reasons;
  const auto state = record.environment->find("device_state");
  if (state == record.environment->end() || !state->is_object()) return reasons;
  for (const nlohmann::json& reason : state->value("throttle", nlohmann::json::array()))
    if (reason.is_string()) reasons.push_back(reason.get<std::string>());
  return reasons;
}

Variant variant_that_ran(const Record& record) {
  Variant variant = record.variant;
  if (record.ring_groups > 0) variant.ring.groups = record.ring_groups;
  if (record.sharding != Sharding::automatic) variant.ring.sharding = record.sharding;
  if (!record.transport.empty()) variant.ring.transport = transport_named(record.transport);
  if (record.head_moves != HeadMoves::automatic) variant.ring.head_moves = record.head_moves;
  return variant;
}

const Counter* find_counter(const Record& record, std::string_view name) {
  const auto found = record.counters.find(std::string(name));
  return found == record.counters.end() ? nullptr : &found->second;
}

std::optional<double> counter_value(const Record& record, std::string_view name) {
  const Counter* counter = find_counter(record, name);
  return counter == nullptr ? std::nullopt : counter->value;
}

std::optional<double> computed_over_needed(const Record& record) {
  if (record.pairs) return record.pairs->computed / record.pairs->needed;
  const auto library = record.environment->find("library");
  if (library == record.environment->end() || !library->is_object()) return std::nullopt;
  const auto said = library->find("computed_over_needed");
  if (said == library->end() || !said->is_number()) return std::nullopt;
  return said->get<double>();
}

std::string environment_text(const Record& record, const char* part, const char* key) {
  const auto inside = record.environment->find(part);
  if (inside == record.environment->end()) return "";
  const auto text = inside->find(key);
  return text != inside->end() && text->is_string() ? one_line(text->get<std::string>()) : "";
}

}  // namespace hilbench
