#include "harness/launched/orders.hpp"

#include <gtest/gtest.h>

namespace hilbench {
namespace {

using Json = nlohmann::json;

Json through_bytes(const Json& json) {
  return Json::from_cbor(Json::to_cbor(json));
}

TEST(ProcessOrder, ReachesTheOtherProcess) {
  const ProcessOrder order{.action = ProcessAction::ask_ring,
                           .case_id = "n4096",
                           .variant_id = "dilated/hilbert",
                           .ring = 4,
                           .rank_order = {.action = RankAction::run, .executions = 9},
                           .exit_status = 3};
  const ProcessOrder back = process_order_from_json(through_bytes(to_json(order)));
  EXPECT_EQ(back.action, order.action);
  EXPECT_EQ(back.case_id, order.case_id);
  EXPECT_EQ(back.variant_id, order.variant_id);
  EXPECT_EQ(back.ring, order.ring);
  EXPECT_EQ(back.rank_order.action, RankAction::run);
  EXPECT_EQ(back.rank_order.executions, 9);
  EXPECT_EQ(back.exit_status, order.exit_status);
}

TEST(ProcessOrder, MovesDataIfTheRanksOfARingDo) {
  EXPECT_TRUE(
      moves_data(ProcessOrder{.action = ProcessAction::ask_ring, .rank_order = {.action = RankAction::run}}));
  EXPECT_FALSE(moves_data(
      ProcessOrder{.action = ProcessAction::ask_ring, .rank_order = {.action = RankAction::verify}}));
  EXPECT_FALSE(moves_data(
      ProcessOrder{.action = ProcessAction::drop_ring, .rank_order = {.action = RankAction::run}}));
}

TEST(ProcessAnswer, ComesBackWhole) {
  const ProcessAnswer answer{.clock = "GPU-1",
                             .timer = "cuda_events",
                             .host = "here",
                             .device_bytes = 7,
                             .device_state = {{"foreign_processes", 2}},
                             .rank_answer = {.values = {1.5f}}};
  const ProcessAnswer back = process_answer_from_json(through_bytes(to_json(answer)));
  EXPECT_FALSE(back.error);
  EXPECT_EQ(back.clock, answer.clock);
  EXPECT_EQ(back.timer, answer.timer);
  EXPECT_EQ(back.host, answer.host);
  EXPECT_EQ(back.device_bytes, answer.device_bytes);
  EXPECT_EQ(back.device_state, answer.device_state);
  EXPECT_EQ(back.rank_answer.values, answer.rank_answer.values);
}

TEST(ProcessAnswer, MaySayWhyThereIsNone) {
  const ProcessAnswer back =
      process_answer_from_json(through_bytes(to_json(ProcessAnswer{.error = "rank 1 of 2: no"})));
  EXPECT_EQ(back.error, "rank 1 of 2: no");
}

}  // namespace
}  // namespace hilbench
