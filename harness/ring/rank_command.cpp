#include "harness/ring/rank_command.hpp"

#include <cstring>

#include "harness/ring/command_json.hpp"

namespace hilbench {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RunRing, part, executions, cold)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TimeLink, between, executions)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(OpenCounters, set)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CountPass, pass, cold)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FillOutput, value)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LoadInputs, inputs)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ProbeKeys, entropy)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ReadOutput, tensor, first, count)

namespace {

using Json = nlohmann::json;

Json json_of(const RawCounts& counts) {
  Json made = Json::object();
  for (const auto& [name, count] : counts) {
    if (count.value)
      made[name] = {{"value", *count.value}, {"scaled", count.scaled}, {"fake", count.fake}};
    else
      made[name] = {{"reason", count.reason}};
  }
  return made;
}

RawCounts counts_from_json(const Json& json) {
  RawCounts counts;
  for (const auto& [name, count] : json.items()) {
    if (count.contains("value"))
      counts[name] = {.value = count.at("value").get<double>(),
                      .scaled = count.at("scaled").get<bool>(),
                      .fake = count.at("fake").get<bool>()};
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

Json to_json(const RankCommand& command) {
  return json_of_command(command);
}

RankCommand rank_command_from_json(const Json& json) {
  return command_from_json<RankCommand>(json);
}

bool moves_data(const RankCommand& command) {
  return std::holds_alternative<RunRing>(command) || std::holds_alternative<TimeLink>(command) ||
         std::holds_alternative<OpenCounters>(command) || std::holds_alternative<CountPass>(command) ||
         std::holds_alternative<CloseCounters>(command);
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
          {"bad", {answer.bad.o, answer.bad.lse}},
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
                    .bad = {.o = json.at("bad").at(0), .lse = json.at("bad").at(1)},
                    .probed = probe_errors_from_json(json.at("probed")),
                    .values = values_from_json(json.at("values"))};
  if (!json.at("permute_ns").is_null()) answer.permute_ns = json.at("permute_ns").get<double>();
  return answer;
}

}  // namespace hilbench
