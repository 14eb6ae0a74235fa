#include "harness/measure/comparison_task.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kernels/base/text/error.hpp"
#include "kernels/case/mask_blocks.hpp"

namespace hilbench {
namespace {

Record masked_record(std::int64_t block_seen) {
  Record record;
  record.work = {.sequence_length = 200, .heads = 2, .kv_heads = 2, .device = DeviceKind::cpu};
  BlockBits bits(4);
  bits.set(1, block_seen);
  record.work.mask_blocks = mask_of_bits(std::make_shared<const BlockBits>(bits), 64);
  record.work.pattern = {{200, 1}};
  record.variant_id = "dilated/linear";
  record.case_id = case_id(record.work);
  record.kernel = "dilated_cpu";
  record.threads = 1;
  return record;
}

Record sample_record(const std::string& order) {
  Record record;
  record.sweep = "task";
  record.work = {.sequence_length = 4096, .pattern = {{2048, 1}, {4096, 2}}, .kv_heads = 8};
  record.work.device = DeviceKind::cpu;
  record.variant = {KernelChoice{.name = "dilated", .order = order}};
  record.variant_id = variant_id(record.variant);
  record.case_id = case_id(record.work);
  record.kernel = "dilated_cpu";
  record.threads = 2;
  record.flops = 1e9;
  return record;
}

ComparisonTask through_text(const ComparisonTask& task) {
  return task_from_json(nlohmann::json::parse(to_json(task).dump()));
}
TaskEvent through_text(const TaskEvent& event) {
  return event_from_json(nlohmann::json::parse(to_json(event).dump()));
}

TEST(ComparisonTask, BringsTheBitsOfAMask) {
  const ComparisonTask task{.records = {masked_record(2), masked_record(2)}};
  const ComparisonTask back = through_text(task);
  for (const Record& record : back.records) {
    EXPECT_EQ(record.work, task.records[0].work);
    EXPECT_TRUE(bits_of(record.work).selects(1, 2));
    EXPECT_FALSE(bits_of(record.work).selects(1, 1));
  }
  nlohmann::json other = to_json(task);
  other["mask"] = to_json(ComparisonTask{.records = {masked_record(3)}})["mask"];
  EXPECT_THROW(task_from_json(other), EnvironmentError);
  other["mask"] = nullptr;
  EXPECT_THROW(task_from_json(other), UsageError);
}

TEST(ComparisonTask, SurvivesTheTripToAWorker) {
  const ComparisonTask task{
      .records = {sample_record("linear"), sample_record("hilbert")},
      .reference = 1,
      .measure = {.interval = 0.031,
                  .budget_s = 1.5,
                  .rounds_bend = true,
                  .min_rounds = 7,
                  .cache = CacheState::cold,
                  .steady = true,
                  .steady_s = 3.5,
                  .seed = std::uint64_t{1} << 62,
                  .processes = 5,
                  .shortest_sample_ns = 5e6},
      .inputs = {.source = InputSource::npy, .q = "/a/q.npy", .k = "/a/k.npy", .v = "/a/v \"1\".npy"},
      .counters = {"default", "caches"},
      .counts = 3,
      .verify = Verify::after,
      .turns = 9,
      .device_ordinal = 2,
      .dump = "/b/dump",
      .externals = {{"rival", {{"python3", "a \"b\".py"}, "/c"}}, {"torch_sdpa", {{}, "/c"}}},
      .fork_server = 5};
  const ComparisonTask back = through_text(task);
  ASSERT_EQ(back.records.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(to_json(back.records[i]), to_json(task.records[i]));
  EXPECT_EQ(back.records[1].work, task.records[1].work);
  EXPECT_EQ(back.records[1].variant, task.records[1].variant);
  EXPECT_EQ(back.reference, 1u);
  EXPECT_EQ(back.measure, task.measure);
  EXPECT_EQ(back.inputs, task.inputs);
  EXPECT_EQ(back.counters, task.counters);
  EXPECT_EQ(back.counts, 3);
  EXPECT_EQ(back.verify, Verify::after);
  EXPECT_EQ(back.device_ordinal, 2);
  EXPECT_EQ(back.turns, 9);
  EXPECT_EQ(back.measure.shortest_sample_ns, 5e6);
  EXPECT_EQ(back.dump, task.dump);
  EXPECT_EQ(back.externals, task.externals);
  EXPECT_EQ(back.fork_server, 5);
}

TEST(ComparisonTask, OfAnOlderBuildHasNoSteadySamples) {
  nlohmann::json json =
      to_json(ComparisonTask{.records = {sample_record("linear")}, .measure = {.steady = true}});
  json["measure"].erase("steady");
  json["measure"].erase("steady_s");
  EXPECT_FALSE(task_from_json(json).measure.steady);
}

TEST(ComparisonTask, MayHaveNoReference) {
  EXPECT_FALSE(through_text(ComparisonTask{.records = {sample_record("linear")}}).reference);
}

TEST(TaskEvent, SurvivesTheTripToTheSupervisor) {
  for (const Phase phase : {Phase::prepare, Phase::verify, Phase::time, Phase::count}) {
    const TaskEvent back = through_text(
        TaskEvent{.phase = phase, .variant_id = "dilated/hilbert", .round = 12, .spent_s = 0.25});
    EXPECT_EQ(back.phase, phase);
    EXPECT_EQ(back.variant_id, "dilated/hilbert");
    EXPECT_EQ(back.round, 12);
    EXPECT_EQ(back.spent_s, 0.25);
    EXPECT_FALSE(back.record);
  }
}

TEST(TaskEvent, CarriesARecordWithEverySample) {
  Record record = sample_record("hilbert");
  record.time = Timing{};
  record.time->samples_ns = {1.0 / 3, 2e9, 1e-3};
  record.time->process_rounds = {3};
  record.time->timer = "steady_clock";
  const TaskEvent back = through_text(TaskEvent{.variant_id = record.variant_id, .record = record});
  ASSERT_TRUE(back.record);
  EXPECT_EQ(back.record->time->samples_ns, record.time->samples_ns) << "to the last bit";
  EXPECT_EQ(to_json(*back.record), to_json(record));
}

TEST(Phase, HasAName) {
  EXPECT_EQ(to_string(Phase::prepare), "prepare");
  EXPECT_EQ(to_string(Phase::count), "count");
}

}  // namespace
}  // namespace hilbench
