#include "reports/records/record.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "kernels/base/text/error.hpp"
#include "tests/reports/records/kernel_record.hpp"

namespace hilbench {
namespace {

using nlohmann::json;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(RecordJson, RoundTripsEveryStatus) {
  for (const Status status : {Status::ok, Status::skipped, Status::failed, Status::invalid}) {
    Record record = kernel_record();
    record.status = status;
    record.reason = status == Status::ok ? "" : "because \"of\" \n this";
    if (status != Status::ok) {
      record.time.reset();
      record.verify.reset();
      record.speedup.reset();
      record.flops.reset();
    }
    expect_round_trip(record);
    EXPECT_EQ(record_from_json(to_json(record)).status, status);
  }
}

TEST(RecordJson, KeepsSamplesAndCountersExactly) {
  const Record record = kernel_record();
  const Record back = record_from_json(json::parse(to_json(record).dump()));
  EXPECT_EQ(back.time->samples_ns, record.time->samples_ns);
  EXPECT_EQ(back.time->process_rounds, record.time->process_rounds);
  EXPECT_EQ(back.time->median_ns, record.time->median_ns);
  EXPECT_EQ(back.counters.at("page_faults").value, 3);
  EXPECT_EQ(back.counters.at("l1d_read_misses").value, std::nullopt);
  EXPECT_EQ(back.counters.at("l1d_read_misses").reason, "no such event");
  EXPECT_FALSE(back.speedup) << "found anew from the samples";
  EXPECT_EQ(*back.environment, *record.environment);
}

TEST(RecordJson, KeepsWhatScriptsWouldReport) {
  Record record = kernel_record();
  EXPECT_EQ(to_json(record)["time_ns"]["protocols"], json::array());
  record.time->protocols = {{{10, EndTurn::interleaved, CacheState::cold}, {5, 7, 6}, {2, 0, 1}}};
  json out = to_json(record);
  EXPECT_EQ(out["time_ns"]["protocols"], json::parse(R"([{"runs": 10, "end": "interleaved", "cache": "cold",
                             "samples": [[5.0, 7.0], [], [6.0]]}])"));
  const ProtocolTimes back = record_from_json(json::parse(out.dump())).time->protocols.at(0);
  EXPECT_EQ(back.protocol, record.time->protocols[0].protocol);
  EXPECT_EQ(back.trials_ns, record.time->protocols[0].trials_ns);
  EXPECT_EQ(back.process_trials, record.time->protocols[0].process_trials);
  for (const auto& [key, value] :
       {std::pair<const char*, json>{"runs", 0}, {"end", "second"}, {"cache", "hot"}}) {
    json wrong = out;
    wrong["time_ns"]["protocols"][0][key] = value;
    EXPECT_THROW(record_from_json(wrong), UsageError) << key;
  }
  out["time_ns"].erase("protocols");
  EXPECT_TRUE(record_from_json(out).time->protocols.empty()) << "older records have none";
}

TEST(RecordJson, ThreadsOfTheSweepAreNotMixedUpWithThoseUsed) {
  Record record = kernel_record();
  record.work.threads = 1;
  expect_round_trip(record);
  EXPECT_EQ(to_json(record)["params"]["threads"], 2);
}

TEST(RecordJson, BaselineHasNoOrder) {
  Record record = kernel_record();
  record.variant = {BaselineName{"peak"}};
  record.variant_id = record.kernel = "peak";
  record.kind = ImplementationKind::baseline;
  record.order_chunk = 0;
  record.verify.reset();
  const json out = to_json(record);
  for (const char* name : {"order", "order_scope", "order_tensors", "order_chunk", "key_visit", "traversal",
                           "rows", "buffers", "index"})
    EXPECT_TRUE(out["params"].at(name).is_null()) << name;
  EXPECT_TRUE(out["verify"].is_null());
  EXPECT_EQ(out["kind"], "baseline");
  expect_round_trip(record);
}

TEST(RecordJson, KeepsWhatTheInputsWereLike) {
  Record record = kernel_record();
  record.work.score_scale = 0.1;
  record.work.data = DataKind::dominating_key;
  const json out = to_json(record);
  EXPECT_EQ(out["params"]["score_scale"], 0.1);
  EXPECT_EQ(out["params"]["data"], "dominating_key");
  expect_round_trip(record);
  EXPECT_EQ(record_from_json(out).work, record.work);
  for (const json& wrong : {json(0), json(-1), json(1e9), json("4"), json()}) {
    json changed = out;
    changed["params"]["score_scale"] = wrong;
    EXPECT_THROW(record_from_json(changed), UsageError) << wrong;
  }
}

TEST(RecordJson, KeepsWhatATrainingDoes) {
  Record record = kernel_record();
  record.work.dropout = 0.125, record.work.dropout_seed = 5;
  record.variant.change().saved = Saved::inputs;
  record.judging_peak = 2e12;
  record.held_bytes = 1000, record.peak_bytes = 3000;
  const json out = to_json(record);
  EXPECT_EQ(out["params"]["dropout"], 0.125);
  EXPECT_EQ(out["params"]["saved"], "inputs");
  EXPECT_EQ(out["held_bytes"], 1000);
  EXPECT_EQ(record_from_json(out).judging_peak, 2e12);
  expect_round_trip(record);
  EXPECT_EQ(record_from_json(out).work, record.work);
  EXPECT_EQ(record_from_json(out).variant, record.variant);
  EXPECT_EQ(record_from_json(out).peak_bytes, 3000);
  for (const json& wrong : {json(1), json(-0.1), json("0"), json()}) {
    json changed = out;
    changed["params"]["dropout"] = wrong;
    EXPECT_THROW(record_from_json(changed), UsageError) << wrong;
  }
}

TEST(RecordJson, HasADtypeThatWasMeasured) {
  json out = to_json(kernel_record());
  out["params"]["dtype"] = "auto";
  EXPECT_THROW(record_from_json(out), UsageError);
}

TEST(RecordJson, KeepsThePages) {
  Record record = kernel_record();
  record.work.pages = PageSize::of_2m;
  json out = to_json(record);
  EXPECT_EQ(out["params"]["pages"], "2m");
  expect_round_trip(record);
  EXPECT_EQ(record_from_json(out).work, record.work);
  out["params"]["pages"] = "2M";
  EXPECT_THROW(record_from_json(out), UsageError);
}

std::set<std::string> keys(const json& object) {
  std::set<std::string> names;
  for (const auto& item : object.items()) names.insert(item.key());
  return names;
}

TEST(RecordJson, HasTheKeysOfTheContractEvenWhenEmpty) {
  const json out = to_json(Record{});
  EXPECT_EQ(keys(out), (std::set<std::string>{"schema",
                                              "twin",
                                              "injected",
                                              "held_bytes",
                                              "peak_bytes",
                                              "sweep",
                                              "case",
                                              "variant",
                                              "params",
                                              "asked",
                                              "kind",
                                              "status",
                                              "reason",
                                              "verify",
                                              "time_ns",
                                              "permute_ns",
                                              "flops",
                                              "min_bytes",
                                              "tflops",
                                              "judging_peak",
                                              "memory_bytes",
                                              "comm_bytes",
                                              "counters",
                                              "speedup",
                                              "environment",
                                              "requests",
                                              "energy_j",
                                              "comm_bytes_inside",
                                              "comm_bytes_between",
                                              "pairs"}));
  EXPECT_EQ(keys(out["params"]), (std::set<std::string>{"sequence_length",
                                                        "batch",
                                                        "heads",
                                                        "kv_heads",
                                                        "head_dim",
                                                        "dtype",
                                                        "causal",
                                                        "pass",
                                                        "segments",
                                                        "dilations",
                                                        "queries",
                                                        "head_offset",
                                                        "branch_heads",
                                                        "kernel",
                                                        "order",
                                                        "order_param",
                                                        "order_scope",
                                                        "order_tensors",
                                                        "order_chunk",
                                                        "order_span",
                                                        "key_visit",
                                                        "traversal",
                                                        "traversal_param",
                                                        "traversals",
                                                        "buffers",
                                                        "rows",
                                                        "index",
                                                        "ring_size",
                                                        "ring_algorithm",
                                                        "ring_groups",
                                                        "outer_link",
                                                        "ring_launch",
                                                        "head_parts",
                                                        "head_moves",
                                                        "sharding",
                                                        "transport",
                                                        "device",
                                                        "threads",
                                                        "cache",
                                                        "steady_s",
                                                        "pages",
                                                        "score_scale",
                                                        "dropout",
                                                        "dropout_seed",
                                                        "saved",
                                                        "data",
                                                        "grid",
                                                        "window",
                                                        "window_dilation",
                                                        "window_stride",
                                                        "window_causal",
                                                        "mask",
                                                        "mask_block",
                                                        "edges",
                                                        "tiles",
                                                        "order_box"}));
}

TEST(RecordJson, EnergyHasSamplesOrAReason) {
  Record record = kernel_record();
  EXPECT_TRUE(to_json(record).at("energy_j").is_null());
  EXPECT_TRUE(to_json(record)["params"].at("steady_s").is_null());
  record.steady_s = 2.5;
  record.energy = Energy{.median_j = 1.5, .samples_j = {1, 2, 3}, .source = "nvml"};
  EXPECT_EQ(to_json(record)["params"]["steady_s"], 2.5);
  EXPECT_EQ(to_json(record)["energy_j"],
            json({{"median", 1.5}, {"samples", {{1, 2}, {3}}}, {"source", "nvml"}, {"reason", nullptr}}));
  expect_round_trip(record);
  record.energy = Energy{.reason = "no counter"};
  EXPECT_EQ(
      to_json(record)["energy_j"],
      json({{"median", nullptr}, {"samples", json::array()}, {"source", nullptr}, {"reason", "no counter"}}));
  expect_round_trip(record);
}

TEST(RecordJson, ShowsNamesAsTheContractDoes) {
  const json out = to_json(kernel_record());
  EXPECT_EQ(out["params"]["order"], "hilbert");
  EXPECT_EQ(out["params"]["order_param"], 512);
  EXPECT_EQ(out["params"]["order_chunk"], 512);
  EXPECT_EQ(out["params"]["causal"], true);
  EXPECT_EQ(out["params"]["segments"], (json{2048, 4096}));
  EXPECT_EQ(out["params"]["dilations"], (json{1, 2}));
  EXPECT_EQ(out["params"]["kernel"], "dilated_cpu");
  EXPECT_EQ(out["speedup"]["verdict"], "inconclusive");
  EXPECT_TRUE(out["reason"].is_null());
}

TEST(RecordJson, NumbersThatAreNotFiniteBecomeNull) {
  Record record = kernel_record();
  record.verify->before.max_abs = std::nan("");
  record.verify->before.rel_l2 = kInfinity;
  record.time->samples_ns = {1, kInfinity};
  record.time->process_rounds = {1, 1};
  record.tflops = kInfinity;
  record.speedup->ci = {kInfinity, std::nan("")};
  record.counters["rate"] = {.value = std::nan(""), .unit = "ratio"};
  const json out = to_json(record);
  EXPECT_TRUE(out["verify"]["max_abs"].is_null());
  EXPECT_TRUE(out["verify"]["rel_l2"].is_null());
  EXPECT_TRUE(out["time_ns"]["samples"][1][0].is_null());
  EXPECT_TRUE(out["tflops"].is_null());
  EXPECT_TRUE(out["speedup"]["ci"][0].is_null());
  EXPECT_TRUE(out["counters"]["rate"]["value"].is_null());
  EXPECT_FALSE(out["counters"]["rate"]["reason"].is_null());
  record.speedup.reset();
  EXPECT_EQ(to_json(record_from_json(out)), to_json(record));
}

TEST(RecordJson, ARankWhoseCountIsNotFiniteKeepsItsPlace) {
  Record record = kernel_record();
  record.counters["task_clock"] = {
      .value = kInfinity, .unit = "ns", .source = "perf", .passes = 1, .ranks = {2, kInfinity, 3}};
  const json out = json::parse(to_json(record).dump());
  EXPECT_EQ(out["counters"]["task_clock"]["ranks"], (json{2.0, nullptr, 3.0}));
  const Counter read = record_from_json(out).counters.at("task_clock");
  EXPECT_FALSE(read.value);
  EXPECT_EQ(read.reason, "not a finite number");
  ASSERT_EQ(read.ranks.size(), 3u);
  EXPECT_EQ(read.ranks[0], 2);
  EXPECT_TRUE(std::isnan(read.ranks[1]));
  EXPECT_EQ(read.ranks[2], 3);
  expect_round_trip(record);
}

TEST(RecordJson, RejectsWhatIsNoRecord) {
  EXPECT_THROW(record_from_json(json(nullptr)), UsageError);
  EXPECT_THROW(record_from_json(json::array({1, 2})), UsageError);
  EXPECT_THROW(record_from_json(json::object()), UsageError);
  const json good = to_json(kernel_record());
  for (const auto& item : good.items()) {
    json without = good;
    if (item.key() == "speedup") continue;   // found anew from the samples
    if (item.key() == "injected") continue;  // `asked` says how much
    without.erase(item.key());
    const bool came_later = item.key() == "energy_j" || item.key() == "comm_bytes_inside" ||
                            item.key() == "pairs" || item.key() == "held_bytes" ||
                            item.key() == "judging_peak";
    if (!came_later) {
      EXPECT_THROW(record_from_json(without), UsageError) << item.key();
    }
    if (item.key() == "environment" || item.key() == "speedup") continue;
    json wrong = good;
    wrong[item.key()] = json::array({"x", json::object()});
    EXPECT_THROW(record_from_json(wrong), UsageError) << item.key();
  }
  for (const auto& [pointer, value] :
       std::vector<std::pair<std::string, json>>{{"/schema", 4},
                                                 {"/status", "fine"},
                                                 {"/kind", "rival"},
                                                 {"/params/dtype", "fp8"},
                                                 {"/params/heads", 1.5},
                                                 {"/params/heads", 18446744073709551615u},
                                                 {"/params/causal", 1},
                                                 {"/params/segments", json::array({1})},
                                                 {"/time_ns/ci", json::array({1})},
                                                 {"/time_ns/samples", json::array({"1"})},
                                                 {"/counters/page_faults", 3},
                                                 {"/time_ns/ci", json::array({3, 1})},
                                                 {"/time_ns/ci", json::array({-3, 1})},
                                                 {"/time_ns/median", -1},
                                                 {"/time_ns/samples", json::array({json::array({1, -1})})},
                                                 {"/time_ns/samples", json::array({1, 2})},
                                                 {"/twin", 1},
                                                 {"/asked/margin", -1},
                                                 {"/asked/margin", nullptr},
                                                 {"/asked/injected", nullptr},
                                                 {"/params/kv_heads", 0x7fffffff},
                                                 {"/verify/max_abs", -1},
                                                 {"/memory_bytes", -1}}) {
    json wrong = good;
    wrong[json::json_pointer(pointer)] = value;
    EXPECT_THROW(record_from_json(wrong), UsageError) << pointer;
  }
}

TEST(RecordJson, EnvironmentsOfAnyShapeAreLookedInto) {
  Record record = kernel_record();
  EXPECT_EQ(environment_text(record, "host", "cpu"), "x");
  EXPECT_EQ(environment_text(record, "device", "name"), "");
  for (const json& odd : {json(), json(5), json::array(), json("host"), json({{"host", 5}}),
                          json({{"host", {5}}}), json({{"host", {{"cpu", 5}}}})}) {
    record.environment = odd;
    EXPECT_EQ(environment_text(record, "host", "cpu"), "") << odd;
    EXPECT_EQ(foreign_processes(record), 0) << odd;
  }
}

}  // namespace
}  // namespace hilbench
