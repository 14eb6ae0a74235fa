#include "harness/launched/process_command.hpp"

#include <gtest/gtest.h>

namespace hilbench {
namespace {

using Json = nlohmann::json;

Json through_bytes(const Json& json) {
  return Json::from_cbor(Json::to_cbor(json));
}

template <class Command>
Command arrived(const Command& command) {
  return std::get<Command>(process_command_from_json(through_bytes(to_json(ProcessCommand(command)))));
}

TEST(ProcessCommand, ReachesTheOtherProcess) {
  const BeginComparison begin = arrived(BeginComparison{"n4096", std::uint64_t{1} << 63});
  EXPECT_EQ(begin.case_id, "n4096");
  EXPECT_EQ(begin.seed, std::uint64_t{1} << 63);
  const MakeRing make = arrived(MakeRing{4, "dilated/hilbert"});
  EXPECT_EQ(make.ring, 4);
  EXPECT_EQ(make.variant_id, "dilated/hilbert");
  const AskRing ask = arrived(AskRing{4, RunRing{.executions = 9}});
  EXPECT_EQ(ask.ring, 4);
  EXPECT_EQ(std::get<RunRing>(ask.command).executions, 9);
  EXPECT_EQ(arrived(TellDeviceBytes{5}).ring, 5);
  EXPECT_EQ(arrived(DropRing{6}).ring, 6);
  EXPECT_EQ(arrived(EndProcess{3}).exit_status, 3);
  for (const ProcessCommand& bare :
       {ProcessCommand(KeepWaiting{}), ProcessCommand(ObserveDevice{}), ProcessCommand(TellDeviceState{}),
        ProcessCommand(EndComparison{}), ProcessCommand(CallRoll{})})
    EXPECT_EQ(process_command_from_json(through_bytes(to_json(bare))).index(), bare.index());
}

TEST(ProcessCommand, MovesDataIfTheRanksOfARingDo) {
  EXPECT_TRUE(moves_data(ProcessCommand(AskRing{.command = RunRing{}})));
  EXPECT_FALSE(moves_data(ProcessCommand(AskRing{.command = CountBad{}})));
  EXPECT_FALSE(moves_data(ProcessCommand(DropRing{})));
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
