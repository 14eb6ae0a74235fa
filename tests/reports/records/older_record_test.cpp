#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kernels/base/text/error.hpp"
#include "reports/records/record.hpp"
#include "tests/reports/records/kernel_record.hpp"

namespace hilbench {
namespace {

using nlohmann::json;

TEST(RecordJson, AnOptionThatARecordDoesNotKnowYetHasItsDefault) {
  Record record = kernel_record();
  json stored = to_json(record);
  stored["params"].erase("rows");
  record.variant.change().rows = KeyRows::automatic;
  EXPECT_EQ(record_from_json(stored).variant, record.variant);
}

// Records of before `auto` was the default have contiguous shards and do not say so in their id.
TEST(RecordJson, TheFormerDefaultShardingIsKeptAsWhatRan) {
  Record record = kernel_record();
  record.variant = {KernelChoice{.name = "dilated"}};
  record.variant.ring.sharding = Sharding::contiguous;
  record.variant_id = "dilated/linear/ring";
  record.variant.ring.algorithm = RingAlgorithm::ring;
  record.work.ring_size = 4;
  record.ring_algorithm = "ring";
  json out = to_json(record);
  for (const char* later : {"head_parts", "head_moves", "outer_link", "ring_launch"})
    out["asked"].erase(later), out["params"].erase(later);
  const Record older = record_from_json(out);
  EXPECT_EQ(older.variant.ring.sharding, Sharding::automatic);
  EXPECT_EQ(older.sharding, Sharding::contiguous);
  EXPECT_EQ(variant_id(older.variant), "dilated/linear/ring");
  EXPECT_EQ(variant_that_ran(older).ring.sharding, Sharding::contiguous) << "whatever auto means now";
  out["variant"] = "dilated/linear.contiguous/ring";
  EXPECT_EQ(record_from_json(out).variant.ring.sharding, Sharding::contiguous);
}

// Records of before `auto` was the default have head_major and do not say so in their id.
TEST(RecordJson, TheFormerDefaultTraversalIsKeptAsWhatWasChosen) {
  Record record = kernel_record();
  record.variant = {KernelChoice{.name = "dilated", .traversal = "head_major"}};
  record.traversals.clear();
  record.variant_id = "dilated/linear";
  const Record older = record_from_json(to_json(record));
  EXPECT_EQ(older.variant.kernel().traversal, "auto");
  EXPECT_EQ(older.traversals, std::vector<std::string>(record.work.pattern.size(), "head_major"));
  EXPECT_EQ(variant_id(older.variant), record.variant_id);

  record.variant_id = "dilated/linear/head_major";
  const Record named = record_from_json(to_json(record));
  EXPECT_EQ(named.variant.kernel().traversal, "head_major");
  EXPECT_TRUE(named.traversals.empty());
}

// A record as it was written before there were rings.
TEST(RecordJson, RingOptionsMayBeMissing) {
  json out = to_json(kernel_record());
  for (const char* name : {"ring_algorithm", "ring_groups", "sharding", "order_span", "transport",
                           "outer_link", "ring_launch", "head_parts", "head_moves"})
    out["asked"].erase(name);
  out["params"].erase("ring_groups");
  for (const char* name : {"comm_bytes_inside", "comm_bytes_between"}) out.erase(name);
  EXPECT_EQ(record_from_json(out).variant, kernel_record().variant);
}

// A record as it was written when all inputs, and all pages, were alike.
TEST(RecordJson, WhatTheInputsAndPagesWereLikeMayBeMissing) {
  json out = to_json(kernel_record());
  for (const char* name : {"score_scale", "data", "pages", "dropout", "dropout_seed", "saved"})
    out["params"].erase(name);
  for (const char* name : {"held_bytes", "peak_bytes"}) out.erase(name);
  EXPECT_EQ(record_from_json(out).work, kernel_record().work);
  out["params"].erase("queries");
  EXPECT_THROW(record_from_json(out), UsageError);
}

TEST(RecordJson, OfAnOlderVersionIsNotSteady) {
  json old = to_json(kernel_record());
  old.erase("energy_j");
  old["params"].erase("steady_s");
  const Record record = record_from_json(old);
  EXPECT_EQ(record.steady_s, 0);
  EXPECT_FALSE(record.energy);
}

TEST(RecordJson, OlderVerificationsHaveOneToleranceForAllRows) {
  Record record = kernel_record();
  record.verify = Verification{.before = {.max_abs = 3e-6, .rows = 9, .tolerance = 2e-6, .worst = 0.75},
                               .probed_rows = 8};
  json out = to_json(record);
  EXPECT_EQ(record_from_json(out).verify->before.worst, 0.75);
  EXPECT_EQ(record_from_json(out).verify->probed_rows, 8);
  EXPECT_EQ(worst_share(record_from_json(out).verify->before), 0.75);
  out["verify"].erase("worst");
  out["verify"].erase("probed_rows");
  EXPECT_FALSE(record_from_json(out).verify->probed_rows);
  EXPECT_DOUBLE_EQ(worst_share(record_from_json(out).verify->before), 1.5);
}

TEST(RecordJson, Schema1IsRefusedByTheVersionThatReadsIt) {
  json stored = to_json(kernel_record());
  stored["schema"] = 1;
  try {
    record_from_json(stored);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(
        std::string(error.what()).find("its schema is 1; `hilbench export --format jsonl` of version 0.1.0"),
        std::string::npos)
        << error.what();
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

}  // namespace
}  // namespace hilbench
