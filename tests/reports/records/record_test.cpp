#include "reports/records/record.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "kernels/base/error.hpp"
#include "kernels/case/mask_blocks.hpp"
#include "kernels/case/windows.hpp"

namespace hilbench {
namespace {

using nlohmann::json;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Record kernel_record() {
  Record record{.sweep = "quick",
                .work = {.sequence_length = 8192,
                         .pattern = {{2048, 1}, {4096, 2}},
                         .kv_heads = 4,
                         .mask = Mask::causal,
                         .device = DeviceKind::cpu},
                .variant = {.kernel = "dilated",
                            .order = "hilbert",
                            .order_param = 512,
                            .order_chunk = 4096,
                            .chunk_in_id = true,
                            .order_file = "a/b.npy",
                            .order_file_hash = 0xfedcba98,
                            .order_tensors = OrderTensors::qkv,
                            .traversal = "grouped",
                            .traversal_param = 8,
                            .rows = KeyRows::gathered,
                            .index = IndexUse::computed},
                .case_id = "n8192",
                .kernel = "dilated_cpu",
                .order_chunk = 512,
                .threads = 2,
                .traversals = {"longest_first.4", "head_major"},
                .cache = "cold"};
  record.variant_id = variant_id(record.variant);
  record.verify = {1e-6, 1.0 / 3, 2e-7, 256, 1e-4};
  record.time = {.median_ns = 1e6 / 3,
                 .ci_ns = {3e5, 4e5},
                 .samples_ns = {3e5, 1e6 / 3, 4e5},
                 .process_rounds = {2, 1},
                 .timer = "steady_clock"};
  record.permute_ns = 1234.5;
  record.flops = 3.5e10;
  record.min_bytes = 1e7;
  record.tflops = 0.1;
  record.memory_bytes = 2e7;
  record.comm_bytes = 0;
  record.counters["page_faults"] = {.value = 3, .unit = "count", .source = "perf", .passes = 1};
  record.counters["task_clock"] = {.value = 5, .unit = "ns", .source = "perf", .passes = 1, .ranks = {2, 3}};
  record.counters["l1d_read_misses"] = {.unit = "count", .source = "perf", .reason = "no such event"};
  record.speedup = {"dilated/linear", 1.01, {0.99, 1.03}, 2, 0.01, Verdict::inconclusive};
  record.reference = "dilated/linear";
  record.margin = 0.02;
  record.environment = {{"host", {{"cpu", "x"}}}, {"device", nullptr}, {"build", {}}, {"time", "now"}};
  return record;
}

// Compares the members of a record that its JSON form does not hold.
void expect_round_trip(const Record& record) {
  json once = json::parse(to_json(record).dump());
  const Record back = record_from_json(once);
  once["speedup"] = nullptr;  // found anew from the samples
  EXPECT_EQ(to_json(back), once);
  EXPECT_EQ(back.reference, record.reference);
  EXPECT_EQ(back.twin, record.twin);
  EXPECT_EQ(back.work, record.work);
  EXPECT_EQ(back.variant, record.variant);
  EXPECT_EQ(back.threads, record.threads);
  EXPECT_EQ(back.order_chunk, record.order_chunk);
  EXPECT_EQ(back.reason, record.reason);
}

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
  EXPECT_EQ(back.environment, record.environment);
}

TEST(RecordJson, ThreadsOfTheSweepAreNotMixedUpWithThoseUsed) {
  Record record = kernel_record();
  record.work.threads = 1;
  expect_round_trip(record);
  EXPECT_EQ(to_json(record)["params"]["threads"], 2);
}

TEST(RecordJson, BaselineHasNoOrder) {
  Record record = kernel_record();
  record.variant = {.kernel = "peak", .baseline = true};
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

TEST(RecordJson, ShowsRingOptionsOfRingsAlone) {
  Record record = kernel_record();
  record.variant.ring_algorithm = RingAlgorithm::ring_packed;
  record.variant.sharding = Sharding::zigzag;
  record.variant_id = variant_id(record.variant);
  for (const char* name : {"ring_algorithm", "ring_groups", "sharding", "order_span", "transport",
                           "outer_link", "ring_launch", "head_parts"})
    EXPECT_TRUE(to_json(record)["params"].at(name).is_null()) << name;
  expect_round_trip(record);
  record.work.ring_size = 4;
  record.ring_algorithm = "local";
  record.transport = "threads";
  const json out = to_json(record);
  EXPECT_EQ(out["params"]["ring_algorithm"], "local") << "what ran";
  EXPECT_EQ(out["params"]["transport"], "threads");
  EXPECT_EQ(out["asked"]["ring_algorithm"], "ring_packed");
  EXPECT_EQ(out["asked"]["transport"], "auto");
  EXPECT_EQ(out["params"]["sharding"], "zigzag");
  EXPECT_EQ(out["params"]["order_span"], "shard");
  EXPECT_TRUE(out["params"]["ring_groups"].is_null()) << "no groups are known";
  expect_round_trip(record);
}

TEST(RecordJson, SaysWhichShardingAutoWas) {
  Record record = kernel_record();
  record.work.ring_size = 4;
  record.ring_algorithm = "ring";
  record.sharding = Sharding::zigzag;
  const json out = to_json(record);
  EXPECT_EQ(out["params"]["sharding"], "zigzag");
  EXPECT_EQ(out["asked"]["sharding"], "auto");
  expect_round_trip(record);
  const Record back = record_from_json(out);
  EXPECT_EQ(back.sharding, Sharding::zigzag);
  EXPECT_EQ(back.variant.sharding, Sharding::automatic);
  EXPECT_EQ(variant_that_ran(back).sharding, Sharding::zigzag);
}

// Records of before `auto` was the default have contiguous shards and do not say so in their id.
TEST(RecordJson, TheFormerDefaultShardingIsKeptAsWhatRan) {
  Record record = kernel_record();
  record.variant = {.kernel = "dilated"};
  record.variant.sharding = Sharding::contiguous;
  record.variant_id = "dilated/linear/ring";
  record.variant.ring_algorithm = RingAlgorithm::ring;
  record.work.ring_size = 4;
  record.ring_algorithm = "ring";
  json out = to_json(record);
  for (const char* later : {"head_parts", "outer_link", "ring_launch"})
    out["asked"].erase(later), out["params"].erase(later);
  const Record older = record_from_json(out);
  EXPECT_EQ(older.variant.sharding, Sharding::automatic);
  EXPECT_EQ(older.sharding, Sharding::contiguous);
  EXPECT_EQ(variant_id(older.variant), "dilated/linear/ring");
  EXPECT_EQ(variant_that_ran(older).sharding, Sharding::contiguous) << "whatever auto means now";
  out["variant"] = "dilated/linear.contiguous/ring";
  EXPECT_EQ(record_from_json(out).variant.sharding, Sharding::contiguous);
}

// The groups of hosts: the sweep names none.
TEST(RecordJson, KeepsTheBytesInsideGroupsAndBetweenThem) {
  Record record = kernel_record();
  EXPECT_TRUE(to_json(record)["comm_bytes_between"].is_null());
  record.work.ring_size = 4;
  record.ring_algorithm = "ring";
  record.transport = "mpi";
  record.ring_groups = 2;
  record.comm_bytes = 30;
  record.comm_bytes_inside = 20;
  record.comm_bytes_between = 10;
  const json out = to_json(record);
  EXPECT_EQ(out["params"]["ring_groups"], 2);
  EXPECT_EQ(out["asked"]["ring_groups"], 0);
  EXPECT_EQ(out["comm_bytes_inside"], 20);
  EXPECT_EQ(out["comm_bytes_between"], 10);
  expect_round_trip(record);
}

TEST(RecordJson, ABaselineKeepsTheRingAlgorithmThatItIs) {
  Record record = kernel_record();
  record.kind = ImplementationKind::baseline;
  record.variant = {.kernel = "longnet_allgather", .baseline = true};
  record.variant.ring_algorithm = RingAlgorithm::allgather_packed;
  record.variant_id = "longnet_allgather";
  record.work.ring_size = 4;
  EXPECT_EQ(record_from_json(to_json(record)).variant, record.variant);
}

// A record as it was written before there were rings.
TEST(RecordJson, RingOptionsMayBeMissing) {
  json out = to_json(kernel_record());
  for (const char* name : {"ring_algorithm", "ring_groups", "sharding", "order_span", "transport",
                           "outer_link", "ring_launch", "head_parts"})
    out["asked"].erase(name);
  out["params"].erase("ring_groups");
  for (const char* name : {"comm_bytes_inside", "comm_bytes_between"}) out.erase(name);
  EXPECT_EQ(record_from_json(out).variant, kernel_record().variant);
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

// A record as it was written when all inputs, and all pages, were alike.
TEST(RecordJson, WhatTheInputsAndPagesWereLikeMayBeMissing) {
  json out = to_json(kernel_record());
  for (const char* name : {"score_scale", "data", "pages"}) out["params"].erase(name);
  EXPECT_EQ(record_from_json(out).work, kernel_record().work);
  out["params"].erase("queries");
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
                                              "memory_bytes",
                                              "comm_bytes",
                                              "counters",
                                              "speedup",
                                              "environment",
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
                                                        "sharding",
                                                        "transport",
                                                        "device",
                                                        "threads",
                                                        "cache",
                                                        "steady_s",
                                                        "pages",
                                                        "score_scale",
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

// Records of before `auto` was the default have head_major and do not say so in their id.
TEST(RecordJson, TheFormerDefaultTraversalIsKeptAsWhatWasChosen) {
  Record record = kernel_record();
  record.variant = {.kernel = "dilated", .traversal = "head_major"};
  record.traversals.clear();
  record.variant_id = "dilated/linear";
  const Record older = record_from_json(to_json(record));
  EXPECT_EQ(older.variant.traversal, "auto");
  EXPECT_EQ(older.traversals, std::vector<std::string>(record.work.pattern.size(), "head_major"));
  EXPECT_EQ(variant_id(older.variant), record.variant_id);

  record.variant_id = "dilated/linear/head_major";
  const Record named = record_from_json(to_json(record));
  EXPECT_EQ(named.variant.traversal, "head_major");
  EXPECT_TRUE(named.traversals.empty());
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

TEST(RecordJson, OfAnOlderVersionIsNotSteady) {
  json old = to_json(kernel_record());
  old.erase("energy_j");
  old["params"].erase("steady_s");
  const Record record = record_from_json(old);
  EXPECT_EQ(record.steady_s, 0);
  EXPECT_FALSE(record.energy);
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

TEST(RecordJson, AnOptionThatARecordDoesNotKnowYetHasItsDefault) {
  Record record = kernel_record();
  json stored = to_json(record);
  stored["params"].erase("rows");
  record.variant.rows = KeyRows::automatic;
  EXPECT_EQ(record_from_json(stored).variant, record.variant);
}

TEST(RecordJson, OlderVerificationsHaveOneToleranceForAllRows) {
  Record record = kernel_record();
  record.verify =
      Verification{.max_abs = 3e-6, .rows = 9, .tolerance = 2e-6, .worst = 0.75, .probed_rows = 8};
  json out = to_json(record);
  EXPECT_EQ(record_from_json(out).verify->worst, 0.75);
  EXPECT_EQ(record_from_json(out).verify->probed_rows, 8);
  EXPECT_EQ(worst_share(*record_from_json(out).verify), 0.75);
  out["verify"].erase("worst");
  out["verify"].erase("probed_rows");
  EXPECT_FALSE(record_from_json(out).verify->probed_rows);
  EXPECT_DOUBLE_EQ(worst_share(*record_from_json(out).verify), 1.5);
}

TEST(RecordJson, NumbersThatAreNotFiniteBecomeNull) {
  Record record = kernel_record();
  record.verify->max_abs = std::nan("");
  record.verify->rel_l2 = kInfinity;
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
    const bool came_later =
        item.key() == "energy_j" || item.key() == "comm_bytes_inside" || item.key() == "pairs";
    if (!came_later) {
      EXPECT_THROW(record_from_json(without), UsageError) << item.key();
    }
    if (item.key() == "environment" || item.key() == "speedup") continue;
    json wrong = good;
    wrong[item.key()] = json::array({"x", json::object()});
    EXPECT_THROW(record_from_json(wrong), UsageError) << item.key();
  }
  for (const auto& [pointer, value] :
       std::vector<std::pair<std::string, json>>{{"/schema", 3},
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

// The JSON that schema 1 had for the same record.
json schema_1_json() {
  json stored = to_json(kernel_record());
  stored["schema"] = 1;
  stored.erase("twin");
  stored["time_ns"]["samples"] = {3e5, 1e6 / 3, 4e5};
  stored["time_ns"]["process_rounds"] = {2, 1};
  for (const char* key : {"reference", "margin"}) stored["asked"].erase(key);
  return stored;
}

TEST(RecordJson, Schema1IsRead) {
  const Record back = record_from_json(schema_1_json());
  EXPECT_EQ(back.time->samples_ns, kernel_record().time->samples_ns);
  EXPECT_EQ(back.time->process_rounds, kernel_record().time->process_rounds);
  EXPECT_EQ(back.reference, "dilated/linear");
  EXPECT_EQ(back.margin, kDefaultMargin);
  EXPECT_FALSE(back.twin);
  for (const json& rounds : {json{2, 2}, json{2}, json{4, -1}}) {
    json wrong = schema_1_json();
    wrong["time_ns"]["process_rounds"] = rounds;
    EXPECT_THROW(record_from_json(wrong), UsageError) << rounds;
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

// A record as it was stored before rates were checked.
TEST(RecordJson, AnImpossibleShareIsNotReadAsAValue) {
  json stored = to_json(kernel_record());
  stored["counters"]["l2_read_hit_rate"] = {
      {"value", 1.0155}, {"unit", "ratio"}, {"source", "cupti_range"}, {"passes", 3}, {"reason", nullptr}};
  const Counter read = record_from_json(stored).counters.at("l2_read_hit_rate");
  EXPECT_FALSE(read.value);
  EXPECT_EQ(read.reason, "its counts contradict each other: they give 1.0155, a share is 0 to 1");
}

Record window_record() {
  Record record = kernel_record();
  record.work = {.heads = 4, .kv_heads = 4, .device = DeviceKind::cpu, .edges = Edges::cut};
  record.work.windows = {{.extent = 6, .window = 3, .causal = true},
                         {.extent = 8, .window = 9, .dilation = 2, .stride = 4}};
  fill_in_windows(record.work);
  record.variant = {.kernel = "dilated", .order = "boxes", .order_box = {2, 4}, .tiles = KeyTiles::aligned};
  record.variant_id = variant_id(record.variant);
  record.order_chunk = 0;
  record.speedup.reset();  // it is not read
  record.pairs = Pairs{.needed = 100, .computed = 150, .density = 0.25, .partial_blocks = 0.5};
  return record;
}

TEST(WindowRecord, ComesBackFromJson) {
  const Record record = window_record();
  const json made = to_json(record);
  const Record read = record_from_json(made);
  EXPECT_EQ(read.work, record.work);
  EXPECT_EQ(read.variant, record.variant);
  ASSERT_TRUE(read.pairs);
  EXPECT_EQ(read.pairs->computed, 150);
  EXPECT_EQ(to_json(read), made);
  EXPECT_EQ(made["params"]["grid"], json({6, 8}));
  EXPECT_EQ(made["params"]["window_causal"], json({true, false}));
  EXPECT_EQ(made["params"]["edges"], "cut");
  EXPECT_EQ(made["params"]["tiles"], "aligned");
  EXPECT_EQ(made["pairs"]["ratio"], 1.5);
  for (const char* key : {"segments", "dilations", "queries", "head_offset", "branch_heads"})
    EXPECT_TRUE(made["params"].at(key).is_null()) << key;
}

Record mask_record() {
  Record record = window_record();
  record.work.windows = {{.extent = 6}, {.extent = 8}};
  BlockBits bits(3);
  bits.set(2, 1);
  record.work.mask_blocks = mask_of_bits(std::make_shared<const BlockBits>(bits), 16);
  record.work.edges = Edges::shift;
  record.case_id = case_id(record.work);
  return record;
}

TEST(RecordJson, OfAMaskHoldsItsHash) {
  const Record record = mask_record();
  const json made = to_json(record);
  EXPECT_EQ(made["params"]["mask"], mask_text(record.work.mask_blocks));
  EXPECT_EQ(made["params"]["mask_block"], 16);
  EXPECT_EQ(made["params"]["grid"], json({6, 8}));
  for (const char* key : {"window", "window_causal", "edges", "segments", "queries"})
    EXPECT_TRUE(made["params"][key].is_null()) << key;
  const Record back = record_from_json(made);
  EXPECT_EQ(back.work, record.work);
  EXPECT_EQ(back.work.mask_blocks.bits, nullptr);
  EXPECT_EQ(case_id(back.work), record.case_id);
  EXPECT_EQ(to_json(back), made);
  json flat = made;
  flat["params"]["grid"] = nullptr;
  EXPECT_TRUE(record_from_json(flat).work.windows.empty());
  EXPECT_TRUE(to_json(window_record())["params"]["mask"].is_null());
}

TEST(RecordJson, RejectsWhatIsNoMask) {
  const auto refused = [](auto change) {
    json made = to_json(mask_record());
    change(made["params"]);
    EXPECT_THROW(record_from_json(made), UsageError) << made["params"].dump();
  };
  refused([](json& params) { params["mask"] = 7; });
  refused([](json& params) { params["mask"] = "12"; });
  refused([](json& params) { params["mask"] = "000000000000000g"; });
  refused([](json& params) { params["mask_block"] = 0; });
  refused([](json& params) { params["mask_block"] = nullptr; });
  refused([](json& params) { params["grid"] = {6, 9}; });
}

// Keys of windows are there for branches too, without a value; older records do not have them.
TEST(WindowRecord, BranchesHaveNullThere) {
  json made = to_json(kernel_record());
  for (const char* key : {"grid", "window", "window_dilation", "window_stride", "window_causal", "edges",
                          "tiles", "order_box"}) {
    ASSERT_TRUE(made["params"].at(key).is_null()) << key;
    made["params"].erase(key);
  }
  ASSERT_TRUE(made.at("pairs").is_null());
  made.erase("pairs");
  EXPECT_EQ(record_from_json(made).work, kernel_record().work);
}

TEST(WindowRecord, RefusesWhatIsNoWindow) {
  const auto refused = [](auto change) {
    json made = to_json(window_record());
    change(made["params"]);
    EXPECT_THROW(record_from_json(made), UsageError) << made["params"];
  };
  refused([](json& params) { params["grid"] = {6, 9}; });
  refused([](json& params) { params["grid"] = {6, 8, 1}; });
  refused([](json& params) { params["window"] = {3}; });
  refused([](json& params) { params["window_stride"] = {1, 10}; });
  refused([](json& params) { params["window_dilation"] = {0, 1}; });
  refused([](json& params) { params["window_causal"] = {1, 0}; });
  refused([](json& params) { params["edges"] = "shift"; });
}

}  // namespace
}  // namespace hilbench
