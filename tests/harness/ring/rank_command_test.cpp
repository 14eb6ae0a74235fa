// Commands to ranks and their answers, through the bytes that processes send each other.
#include "harness/ring/rank_command.hpp"

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

template <class Command>
Command arrived(const Command& command) {
  return std::get<Command>(rank_command_from_json(through_bytes(to_json(RankCommand(command)))));
}

TEST(RankCommand, ReachesARankInAnotherProcess) {
  const RunRing run = arrived(RunRing{RingPart::exchange, 7, true});
  EXPECT_EQ(run.part, RingPart::exchange);
  EXPECT_EQ(run.executions, 7);
  EXPECT_TRUE(run.cold);
  const TimeLink link = arrived(TimeLink{true, 5});
  EXPECT_TRUE(link.between);
  EXPECT_EQ(link.executions, 5);
  EXPECT_EQ(arrived(OpenCounters{"default"}).set, "default");
  const CountPass count = arrived(CountPass{3, true});
  EXPECT_EQ(count.pass, 3);
  EXPECT_TRUE(count.cold);
  EXPECT_EQ(arrived(FillOutput{std::byte{0xff}}).value, std::byte{0xff});
  EXPECT_EQ(arrived(LoadInputs{InputSet::key_probe}).inputs, InputSet::key_probe);
  EXPECT_EQ(arrived(ProbeKeys{~std::uint64_t{0}}).entropy, ~std::uint64_t{0});
  const ReadOutput read = arrived(ReadOutput{OutputTensor::lse, std::int64_t{1} << 40, 12});
  EXPECT_EQ(read.tensor, OutputTensor::lse);
  EXPECT_EQ(read.first, std::int64_t{1} << 40);
  EXPECT_EQ(read.count, 12);
  for (const RankCommand& bare :
       {RankCommand(DescribeRank{}), RankCommand(CloseCounters{}), RankCommand(CountBad{})})
    EXPECT_EQ(rank_command_from_json(through_bytes(to_json(bare))).index(), bare.index());
}

TEST(RankCommand, OfAnotherBuildIsRefused) {
  EXPECT_THROW(rank_command_from_json({{"command", std::variant_size_v<RankCommand>}}), std::runtime_error);
}

TEST(RankCommand, MovesDataWhereRanksRunOrCountTogether) {
  for (const RankCommand& command :
       {RankCommand(RunRing{}), RankCommand(TimeLink{}), RankCommand(OpenCounters{}),
        RankCommand(CountPass{}), RankCommand(CloseCounters{})})
    EXPECT_TRUE(moves_data(command)) << command.index();
  for (const RankCommand& command :
       {RankCommand(DescribeRank{}), RankCommand(FillOutput{}), RankCommand(CountBad{}),
        RankCommand(LoadInputs{}), RankCommand(ProbeKeys{}), RankCommand(ReadOutput{})})
    EXPECT_FALSE(moves_data(command)) << command.index();
}

TEST(RankAnswer, ComesBackWithEveryNumber) {
  RankAnswer answer{
      .bytes = 1.5e12,
      .permute_ns = 1.0 / 3,
      .spans = {{1, 5}, {std::int64_t{1} << 60, (std::int64_t{1} << 60) + 3}},
      .sent_bytes = std::uint64_t{1} << 63,
      .sent_between = std::uint64_t{1} << 62,
      .counts = true,
      .passes = 2,
      .failed = true,
      .counted = {{"cycles", {.value = 5, .scaled = true, .fake = true}}, {"misses", {.reason = "refused"}}},
      .values = {0.1f, -std::numeric_limits<float>::infinity()}};
  answer.bad = {.o = 3, .lse = std::int64_t{1} << 60};
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
  EXPECT_TRUE(back.counted.at("cycles").fake);
  EXPECT_FALSE(back.counted.at("misses").value);
  EXPECT_EQ(back.counted.at("misses").reason, "refused");
  EXPECT_EQ(back.bad.o, 3);
  EXPECT_EQ(back.bad.lse, std::int64_t{1} << 60);
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
