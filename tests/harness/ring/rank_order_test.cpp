// Orders to ranks and their answers, through the bytes that processes send each other.
#include "harness/ring/rank_order.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

namespace hilbench {
namespace {

using Json = nlohmann::json;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Json through_bytes(const Json& json) {
  return Json::from_cbor(Json::to_cbor(json));
}

TEST(RankOrder, ReachesARankInAnotherProcess) {
  const RankOrder order{.action = RankAction::read,
                        .part = RingPart::exchange,
                        .executions = 7,
                        .between = true,
                        .cold = true,
                        .counter_set = "default",
                        .pass = 3,
                        .value = std::byte{0xff},
                        .inputs = InputSet::key_probe,
                        .tensor = OutputTensor::lse,
                        .first = std::int64_t{1} << 40,
                        .count = 12};
  const RankOrder back = rank_order_from_json(through_bytes(to_json(order)));
  EXPECT_EQ(back.action, order.action);
  EXPECT_EQ(back.part, order.part);
  EXPECT_EQ(back.executions, order.executions);
  EXPECT_EQ(back.between, order.between);
  EXPECT_EQ(back.cold, order.cold);
  EXPECT_EQ(back.counter_set, order.counter_set);
  EXPECT_EQ(back.pass, order.pass);
  EXPECT_EQ(back.value, order.value);
  EXPECT_EQ(back.inputs, order.inputs);
  EXPECT_EQ(back.tensor, order.tensor);
  EXPECT_EQ(back.first, order.first);
  EXPECT_EQ(back.count, order.count);
}

TEST(RankOrder, MovesDataWhereRanksRunOrCountTogether) {
  for (const RankAction action : {RankAction::run, RankAction::time_link, RankAction::open_counters,
                                  RankAction::count_pass, RankAction::close_counters})
    EXPECT_TRUE(moves_data({.action = action}));
  for (const RankAction action : {RankAction::describe, RankAction::fill, RankAction::verify,
                                  RankAction::load, RankAction::probe, RankAction::read})
    EXPECT_FALSE(moves_data({.action = action}));
}

TEST(RankAnswer, ComesBackWithEveryNumber) {
  RankAnswer answer{.bytes = 1.5e12,
                    .permute_ns = 1.0 / 3,
                    .spans = {{1, 5}, {std::int64_t{1} << 60, (std::int64_t{1} << 60) + 3}},
                    .sent_bytes = std::uint64_t{1} << 63,
                    .sent_between = std::uint64_t{1} << 62,
                    .counts = true,
                    .passes = 2,
                    .failed = true,
                    .counted = {{"cycles", {.value = 5, .scaled = true}}, {"misses", {.reason = "refused"}}},
                    .values = {0.1f, -std::numeric_limits<float>::infinity()}};
  answer.errors.bad = 3;
  answer.errors.rows = {{.row = {1, 2, 3}, .o = kInfinity, .scale = {.plain = {.lse = 1e-3}}}};
  answer.probed = {.rows = 7, .telling = 5, .lse = {.row = {4, 5, 6}, .keys = 8, .tolerance = 1.0 / 3}};
  const RankAnswer back = rank_answer_from_json(through_bytes(to_json(answer)));
  EXPECT_EQ(back.bytes, answer.bytes);
  EXPECT_EQ(back.permute_ns, answer.permute_ns);
  EXPECT_EQ(back.spans, answer.spans);
  EXPECT_EQ(back.sent_bytes, answer.sent_bytes);
  EXPECT_EQ(back.sent_between, answer.sent_between);
  EXPECT_EQ(back.counts, answer.counts);
  EXPECT_EQ(back.passes, answer.passes);
  EXPECT_EQ(back.failed, answer.failed);
  ASSERT_EQ(back.counted.size(), 2u);
  EXPECT_EQ(back.counted.at("cycles").value, 5);
  EXPECT_TRUE(back.counted.at("cycles").scaled);
  EXPECT_FALSE(back.counted.at("misses").value);
  EXPECT_EQ(back.counted.at("misses").reason, "refused");
  EXPECT_EQ(back.errors.bad, 3);
  ASSERT_EQ(back.errors.rows.size(), 1u);
  EXPECT_EQ(back.errors.rows[0].row.position, 3);
  EXPECT_EQ(back.errors.rows[0].o, kInfinity);
  EXPECT_EQ(back.errors.rows[0].scale.plain.lse, 1e-3);
  EXPECT_EQ(back.probed.rows, 7);
  EXPECT_EQ(back.probed.telling, 5);
  EXPECT_EQ(back.probed.lse.row.head, 5);
  EXPECT_EQ(back.probed.lse.keys, 8);
  EXPECT_EQ(back.probed.lse.tolerance, 1.0 / 3);
  EXPECT_EQ(back.values, answer.values) << "to the last bit";
}

TEST(RankAnswer, MayHavePermutedNothing) {
  const RankAnswer back = rank_answer_from_json(through_bytes(to_json(RankAnswer{})));
  EXPECT_FALSE(back.permute_ns);
  EXPECT_TRUE(back.values.empty());
}

}  // namespace
}  // namespace hilbench
