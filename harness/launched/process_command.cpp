#include "harness/launched/process_command.hpp"

#include "harness/ring/command_json.hpp"

namespace hilbench {

using Json = nlohmann::json;

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BeginComparison, case_id, seed)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MakeRing, ring, variant_id)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TellDeviceBytes, ring)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DropRing, ring)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(EndProcess, exit_status)

static void to_json(Json& json, const AskRing& ask) {
  json = {{"ring", ask.ring}, {"rank_command", to_json(ask.command)}};
}

static void from_json(const Json& json, AskRing& ask) {
  ask = {json.at("ring"), rank_command_from_json(json.at("rank_command"))};
}

Json to_json(const ProcessCommand& command) {
  return json_of_command(command);
}

ProcessCommand process_command_from_json(const Json& json) {
  return command_from_json<ProcessCommand>(json);
}

bool moves_data(const ProcessCommand& command) {
  const auto* ask = std::get_if<AskRing>(&command);
  return ask != nullptr && moves_data(ask->command);
}

Json to_json(const ProcessAnswer& answer) {
  return {{"error", answer.error ? Json(*answer.error) : Json()},
          {"clock", answer.clock},
          {"timer", answer.timer},
          {"host", answer.host},
          {"device_bytes", answer.device_bytes},
          {"device_state", answer.device_state},
          {"rank_answer", to_json(answer.rank_answer)}};
}

ProcessAnswer process_answer_from_json(const Json& json) {
  ProcessAnswer answer{.clock = json.at("clock"),
                       .timer = json.at("timer"),
                       .host = json.at("host"),
                       .device_bytes = json.at("device_bytes"),
                       .device_state = json.at("device_state"),
                       .rank_answer = rank_answer_from_json(json.at("rank_answer"))};
  if (!json.at("error").is_null()) answer.error = json.at("error").get<std::string>();
  return answer;
}

}  // namespace hilbench
