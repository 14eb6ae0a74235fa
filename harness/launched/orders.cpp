#include "harness/launched/orders.hpp"

namespace hilbench {

using Json = nlohmann::json;

Json to_json(const ProcessOrder& order) {
  return {
      {"action", order.action},          {"case", order.case_id}, {"seed", order.seed},
      {"variant", order.variant_id},     {"ring", order.ring},    {"rank_order", to_json(order.rank_order)},
      {"exit_status", order.exit_status}};
}

ProcessOrder process_order_from_json(const Json& json) {
  return {.action = json.at("action").get<ProcessAction>(),
          .case_id = json.at("case"),
          .seed = json.at("seed"),
          .variant_id = json.at("variant"),
          .ring = json.at("ring"),
          .rank_order = rank_order_from_json(json.at("rank_order")),
          .exit_status = json.at("exit_status")};
}

bool moves_data(const ProcessOrder& order) {
  return order.action == ProcessAction::ask_ring && moves_data(order.rank_order);
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
