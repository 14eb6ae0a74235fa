#include "harness/measure/comparison_task.hpp"

#include <array>
#include <nlohmann/json.hpp>

#include "kernels/base/text/error.hpp"
#include "kernels/case/mask_blocks.hpp"

namespace hilbench {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 4> kPhaseNames = {"prepare", "verify", "time", "count"};

// The bits of the mask that all records share: records hold its hash alone.
Json mask_json(const std::vector<Record>& records) {
  if (records.empty() || !has_mask_blocks(records.front().work)) return nullptr;
  return bits_of(records.front().work).text();
}

void give_mask(const Json& text, std::vector<Record>& records) {
  if (records.empty() || !has_mask_blocks(records.front().work)) return;
  const MaskBlocks& wanted = records.front().work.mask_blocks;
  const auto bits = std::make_shared<const BlockBits>(
      BlockBits::from_text(wanted.blocks, text.is_string() ? text.get<std::string>() : ""));
  const MaskBlocks mask = mask_of_bits(bits, wanted.block);
  if (mask != wanted)
    throw EnvironmentError({.what = "the mask of a task is another one",
                            .why = mask_text(mask) + " where the records have " + mask_text(wanted)});
  for (Record& record : records) record.work.mask_blocks = mask;
}

}  // namespace

std::string_view to_string(Phase phase) {
  return kPhaseNames[static_cast<std::size_t>(phase)];
}

Json to_json(const ComparisonTask& task) {
  Json records = Json::array();
  for (const Record& record : task.records) records.push_back(to_json(record));
  Json externals = Json::object();
  for (const auto& [name, external] : task.externals)
    externals[name] = {{"command", external.command},
                       {"folder", external.folder.string()},
                       {"is_kernel", external.kind == ImplementationKind::kernel},
                       {"library", external.library.string()}};
  const Measure& measure = task.measure;
  Json protocols = Json::array();
  for (const Protocol& protocol : measure.protocols)
    protocols.push_back({{"runs", protocol.runs},
                         {"end", static_cast<int>(protocol.end)},
                         {"cold", protocol.cache == CacheState::cold}});
  return {{"records", records},
          {"mask", mask_json(task.records)},
          {"reference", task.reference ? Json(*task.reference) : Json()},
          {"measure",
           {{"interval", measure.interval},
            {"budget_s", measure.budget_s},
            {"min_rounds", measure.min_rounds},
            {"processes", measure.processes},
            {"rounds_bend", measure.rounds_bend},
            {"cold", measure.cache == CacheState::cold},
            {"steady", measure.steady},
            {"steady_s", measure.steady_s},
            {"seed", measure.seed},
            {"shortest_sample_ns", measure.shortest_sample_ns},
            {"protocols", protocols}}},
          {"chain_end", task.chain_end},
          {"inputs",
           {{"npy", task.inputs.source == InputSource::npy},
            {"q", task.inputs.q.string()},
            {"k", task.inputs.k.string()},
            {"v", task.inputs.v.string()},
            {"d_o", task.inputs.d_o.string()}}},
          {"counters", task.counters},
          {"counts", task.counts},
          {"verify_before", task.verify == Verify::before_and_after},
          {"turns", task.turns},
          {"device_ordinal", task.device_ordinal},
          {"dump", task.dump.string()},
          {"externals", externals},
          {"fork_server_socket", task.fork_server}};
}

ComparisonTask task_from_json(const Json& json) {
  ComparisonTask task;
  for (const Json& record : json.at("records")) task.records.push_back(record_from_json(record));
  give_mask(json.value("mask", Json()), task.records);
  if (!json.at("reference").is_null()) task.reference = json.at("reference").get<std::size_t>();
  const Json& measure = json.at("measure");
  task.measure.interval = measure.at("interval");
  task.measure.budget_s = measure.at("budget_s");
  task.measure.min_rounds = measure.at("min_rounds");
  task.measure.processes = measure.value("processes", task.measure.processes);
  task.measure.rounds_bend = measure.value("rounds_bend", false);
  task.measure.cache = measure.at("cold").get<bool>() ? CacheState::cold : CacheState::warm;
  // A gate of another build may not know steady samples: it measures none.
  task.measure.steady = measure.value("steady", false);
  task.measure.steady_s = measure.value("steady_s", task.measure.steady_s);
  task.measure.seed = measure.at("seed");
  task.measure.shortest_sample_ns = measure.at("shortest_sample_ns");
  for (const Json& protocol : measure.value("protocols", Json::array()))
    task.measure.protocols.push_back(
        {.runs = protocol.at("runs"),
         .end = static_cast<EndTurn>(protocol.at("end").get<int>()),
         .cache = protocol.at("cold").get<bool>() ? CacheState::cold : CacheState::warm});
  task.chain_end = json.value("chain_end", "");
  const Json& inputs = json.at("inputs");
  task.inputs.source = inputs.at("npy").get<bool>() ? InputSource::npy : InputSource::random;
  task.inputs.q = inputs.at("q").get<std::string>();
  task.inputs.k = inputs.at("k").get<std::string>();
  task.inputs.v = inputs.at("v").get<std::string>();
  task.inputs.d_o = inputs.value("d_o", "");  // a build before it knew gradients does not say
  task.counters = json.at("counters").get<std::vector<std::string>>();
  task.counts = json.at("counts");
  task.verify = json.at("verify_before").get<bool>() ? Verify::before_and_after : Verify::after;
  task.turns = json.at("turns");
  task.device_ordinal = json.at("device_ordinal");
  task.dump = json.at("dump").get<std::string>();
  for (const auto& [name, external] : json.at("externals").items())
    task.externals[name] = {.command = external.at("command").get<std::vector<std::string>>(),
                            .folder = external.at("folder").get<std::string>(),
                            .kind = external.value("is_kernel", false) ? ImplementationKind::kernel
                                                                       : ImplementationKind::baseline,
                            .library = external.value("library", "")};
  task.fork_server = json.value("fork_server_socket", -1);  // not known to older builds
  return task;
}

Json to_json(const TaskEvent& event) {
  Json json = {{"phase", static_cast<int>(event.phase)},
               {"variant", event.variant_id},
               {"round", event.round},
               {"spent_s", event.spent_s}};
  if (event.record) json["record"] = to_json(*event.record);
  return json;
}

TaskEvent event_from_json(const Json& json) {
  TaskEvent event;
  event.phase = static_cast<Phase>(json.at("phase").get<int>());
  event.variant_id = json.at("variant");
  event.round = json.at("round");
  event.spent_s = json.at("spent_s");
  if (json.contains("record")) event.record = record_from_json(json.at("record"));
  return event;
}

}  // namespace hilbench
