#include "harness/ring/rank_order.hpp"

#include <cstring>
#include <nlohmann/json.hpp>

namespace hilbench {
namespace {

using Json = nlohmann::json;

Json json_of(const RawCounts& counts) {
  Json made = Json::object();
  for (const auto& [name, count] : counts) {
    if (count.value)
      made[name] = {{"value", *count.value}, {"scaled", count.scaled}};
    else
      made[name] = {{"reason", count.reason}};
  }
  return made;
}

RawCounts counts_from_json(const Json& json) {
  RawCounts counts;
  for (const auto& [name, count] : json.items()) {
    if (count.contains("value"))
      counts[name] = {.value = count.at("value").get<double>(), .scaled = count.at("scaled").get<bool>()};
    else
      counts[name] = {.reason = count.at("reason").get<std::string>()};
  }
  return counts;
}

Json json_of(const std::vector<float>& values) {
  std::vector<std::uint8_t> binary(values.size() * sizeof(float));
  if (!values.empty()) std::memcpy(binary.data(), values.data(), binary.size());
  return Json::binary(std::move(binary));
}

std::vector<float> values_from_json(const Json& json) {
  const std::vector<std::uint8_t>& binary = json.get_binary();
  std::vector<float> values(binary.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), binary.data(), binary.size());
  return values;
}

}  // namespace

Json to_json(const RankOrder& order) {
  return {{"action", order.action},
          {"part", order.part},
          {"executions", order.executions},
          {"between", order.between},
          {"cold", order.cold},
          {"counter_set", order.counter_set},
          {"pass", order.pass},
          {"value", std::to_integer<int>(order.value)},
          {"inputs", order.inputs},
          {"tensor", order.tensor},
          {"first", order.first},
          {"count", order.count}};
}

RankOrder rank_order_from_json(const Json& json) {
  return {.action = json.at("action").get<RankAction>(),
          .part = json.at("part").get<RingPart>(),
          .executions = json.at("executions"),
          .between = json.at("between"),
          .cold = json.at("cold"),
          .counter_set = json.at("counter_set"),
          .pass = json.at("pass"),
          .value = static_cast<std::byte>(json.at("value").get<int>()),
          .inputs = json.at("inputs").get<InputSet>(),
          .tensor = json.at("tensor").get<OutputTensor>(),
          .first = json.at("first"),
          .count = json.at("count")};
}

bool moves_data(const RankOrder& order) {
  switch (order.action) {
    case RankAction::run:
    case RankAction::time_link:
    case RankAction::open_counters:
    case RankAction::count_pass:
    case RankAction::close_counters:
      return true;
    case RankAction::describe:
    case RankAction::fill:
    case RankAction::verify:
    case RankAction::load:
    case RankAction::probe:
    case RankAction::read:
      break;
  }
  return false;
}

Json to_json(const RankAnswer& answer) {
  return {{"bytes", answer.bytes},
          {"permute_ns", answer.permute_ns ? Json(*answer.permute_ns) : Json()},
          {"spans", answer.spans},
          {"sent_bytes", answer.sent_bytes},
          {"sent_between", answer.sent_between},
          {"counts", answer.counts},
          {"passes", answer.passes},
          {"failed", answer.failed},
          {"counted", json_of(answer.counted)},
          {"errors", to_json(answer.errors)},
          {"probed", to_json(answer.probed)},
          {"values", json_of(answer.values)}};
}

RankAnswer rank_answer_from_json(const Json& json) {
  RankAnswer answer{.bytes = json.at("bytes"),
                    .spans = json.at("spans").get<decltype(RankAnswer::spans)>(),
                    .sent_bytes = json.at("sent_bytes"),
                    .sent_between = json.at("sent_between"),
                    .counts = json.at("counts"),
                    .passes = json.at("passes"),
                    .failed = json.at("failed"),
                    .counted = counts_from_json(json.at("counted")),
                    .errors = output_errors_from_json(json.at("errors")),
                    .probed = probe_errors_from_json(json.at("probed")),
                    .values = values_from_json(json.at("values"))};
  if (!json.at("permute_ns").is_null()) answer.permute_ns = json.at("permute_ns").get<double>();
  return answer;
}

}  // namespace hilbench
