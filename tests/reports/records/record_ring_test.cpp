#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "reports/records/record.hpp"
#include "tests/reports/records/kernel_record.hpp"

namespace hilbench {
namespace {

using nlohmann::json;

TEST(RecordJson, ShowsRingOptionsOfRingsAlone) {
  Record record = kernel_record();
  record.variant.ring.algorithm = RingAlgorithm::ring_packed;
  record.variant.ring.sharding = Sharding::zigzag;
  record.variant_id = variant_id(record.variant);
  for (const char* name : {"ring_algorithm", "ring_groups", "sharding", "order_span", "transport",
                           "outer_link", "ring_launch", "head_parts", "head_moves"})
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
  EXPECT_EQ(back.variant.ring.sharding, Sharding::automatic);
  EXPECT_EQ(variant_that_ran(back).ring.sharding, Sharding::zigzag);
}

TEST(RecordJson, SaysHowHeadsMoved) {
  Record record = kernel_record();
  record.work.ring_size = 4;
  record.variant.ring.algorithm = RingAlgorithm::ulysses;
  record.variant_id = variant_id(record.variant);
  record.ring_algorithm = "ulysses";
  record.sharding = Sharding::contiguous;
  record.transport = "nccl";
  record.head_moves = HeadMoves::regrouped;
  json out = to_json(record);
  EXPECT_EQ(out["params"]["head_moves"], "regrouped");
  EXPECT_EQ(out["asked"]["head_moves"], "auto");
  expect_round_trip(record);
  const Variant ran = variant_that_ran(record_from_json(out));
  EXPECT_EQ(ran.ring.head_moves, HeadMoves::regrouped);
  EXPECT_EQ(ran.ring.transport, TransportKind::nccl);
  record.head_moves = HeadMoves::direct;
  EXPECT_EQ(record_from_json(to_json(record)).head_moves, HeadMoves::direct);
  out["asked"].erase("head_moves"), out["params"].erase("head_moves");
  const Record older = record_from_json(out);
  EXPECT_EQ(older.head_moves, HeadMoves::regrouped) << "of before they could move directly";
  EXPECT_EQ(variant_id(older.variant), record.variant_id);
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
  record.variant = {BaselineName{"longnet_allgather"}};
  record.variant.ring.algorithm = RingAlgorithm::allgather_packed;
  record.variant_id = "longnet_allgather";
  record.work.ring_size = 4;
  EXPECT_EQ(record_from_json(to_json(record)).variant, record.variant);
}

}  // namespace
}  // namespace hilbench
