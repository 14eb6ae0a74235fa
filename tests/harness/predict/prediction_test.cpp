#include "harness/predict/prediction.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "harness/plan/memory.hpp"
#include "harness/predict/text.hpp"
#include "reports/claims/claims_file.hpp"
#include "tests/harness/predict/records.hpp"

namespace hilbench {
namespace {

std::vector<RingFit> fits_of(const std::vector<Record>& records) {
  std::vector<RingFit> fits;
  for (auto& [group, samples] : ring_samples(records))
    fits.emplace_back(group, std::move(samples), std::set<std::int64_t>{1, 2});
  return fits;
}

TEST(Predict, LargerRingsAreHeldAgainstTheirRecords) {
  const std::vector<Record> records = ring_records({1, 2, 4, 8}, known_model(), {.relative = 0.02});
  const std::vector<RingFit> fits = fits_of(records);
  const std::vector<RingCheck> checks = check(fits.at(0));
  ASSERT_EQ(checks.size(), 2u);
  EXPECT_EQ(checks[0].ranks, 4);
  EXPECT_EQ(checks[0].errors.count, 48u);
  EXPECT_LT(checks[0].errors.median, 0.03);
  EXPECT_LT(checks[0].errors.worst, 0.15) << checks[0].worst;
  EXPECT_GE(checks[0].inside, 42u);
  EXPECT_NEAR(std::abs(checks[0].worst_predicted_ns.value / checks[0].worst_measured_ns.value - 1),
              checks[0].errors.worst, 1e-12);
  std::vector<Record> slower = records;
  for (Record& record : slower)
    if (record.work.ring_size == 4) record.time->median_ns *= 1.5;
  const std::vector<RingFit> wrong = fits_of(slower);
  const RingCheck found = check(wrong.at(0)).front();
  EXPECT_NEAR(found.errors.median, 1 - 1 / 1.5, 0.02);
  EXPECT_LE(found.inside, 6u);
}

TEST(Predict, GivesTimesBytesAndMemoryOfARing) {
  const std::vector<Record> records = ring_records({1, 2}, known_model(), {});
  const std::vector<RingFit> fits = fits_of(records);
  const auto large = std::find_if(records.begin(), records.end(), [](const Record& record) {
    return record.work.sequence_length == 262144 && record.work.mask == Mask::full;
  });
  const RingPrediction made = predict(fits.at(0), at_ring_size(*large, 4));
  EXPECT_EQ(made.algorithm, "ring");
  EXPECT_EQ(made.sent_bytes, Ring(made.question.work, made.question.variant).sent_bytes());
  EXPECT_GT(made.speedup, 3.5);
  EXPECT_NEAR(made.efficiency, made.speedup / 4, 1e-12);
  EXPECT_GT(made.hidden, 0.6);
  EXPECT_LT(made.ns.ci.low, made.ns.value);
  EXPECT_GT(made.ns.ci.high, made.ns.value);
}

Case patterned(std::int64_t ranks) {
  return {.sequence_length = 425984,
          .pattern = {{2048, 1}, {4096, 2}, {8192, 4}},
          .heads = 8,
          .kv_heads = 8,
          .head_dim = 64,
          .dtype = Dtype::fp16,
          .ring_size = ranks,
          .device = DeviceKind::cuda};
}

// As a GPU kernel of several branches: O in fp32.
const Implementation kKernel = {
    .name = "kernel",
    .device = DeviceKind::cuda,
    .tile_rows = [](const Case&) { return kPlannedTileRows; },
    .workspace_bytes =
        [](const Case& work, int) {
          return 4.0 * static_cast<double>(work.sequence_length * work.heads * work.head_dim);
        },
};

TEST(Longest, IsThePlansOnOneRankAndGrowsWithTheRanks) {
  Site site;
  site.gpu = Gpu{.memory_bytes = std::int64_t{8} << 30};
  const Variant variant{KernelChoice{.name = "dilated"}};
  const double usable = usable_memory(patterned(1), site).device;
  const std::int64_t one = longest_on_ranks(patterned(1), variant, usable);
  EXPECT_EQ(one, longest_sequence(patterned(1), {}, variant, kKernel, 1, site));
  for (const std::int64_t ranks : {2, 4, 8, 64})
    EXPECT_EQ(longest_on_ranks(patterned(ranks), variant, usable), ranks * one)
        << "no segment crosses a shard";
  EXPECT_EQ(longest_on_ranks(patterned(1), variant, 1000), 0);
}

TEST(Longest, BuffersOfARingCount) {
  Case work = patterned(4);
  work.pattern = {{work.sequence_length, 1}};
  const auto longest = [&](RingAlgorithm algorithm) {
    return static_cast<double>(
        longest_on_ranks(work, {KernelChoice{.name = "dilated"}, {.algorithm = algorithm}}, 0x1p33));
  };
  EXPECT_GT(longest(RingAlgorithm::ring), longest(RingAlgorithm::allgather))
      << "three shards received, not two";
  work.ring_size = 16;
  EXPECT_GT(longest(RingAlgorithm::ring), 3 * longest(RingAlgorithm::allgather));
}

TEST(Projections, SayWhatRecordsAllowBesideWhatWasClaimed) {
  const std::vector<ClaimRow> claims = load_claims({});
  const std::vector<ClaimPrediction> without = answer_projections(claims, {});
  ASSERT_EQ(without.size(), 13u) << "3 speedups, 3 of memory, 7 lengths";
  for (const ClaimPrediction& one : without) {
    EXPECT_EQ(one.predicted.empty(), one.claim.claim_id == "analysis-projection") << one.says;
    EXPECT_EQ(one.predicted.empty(), one.verdict == ClaimVerdict::not_testable) << one.says;
  }
  EXPECT_EQ(without[0].says, "not predicted: no records of rings");
  const std::vector<Record> records = ring_records({1, 2}, known_model(), {}, "hilbert", 1.0);
  const std::vector<RingFit> fits = fits_of(records);
  const std::vector<ClaimPrediction> with = answer_projections(claims, fits);
  EXPECT_EQ(with[0].claimed, "1.15 to 1.25");
  EXPECT_TRUE(with[0].predicted.starts_with("1.000 [")) << with[0].predicted;
  EXPECT_TRUE(with[0].verdict == ClaimVerdict::no_gain || with[0].verdict == ClaimVerdict::excluded)
      << to_string(with[0].verdict);
  std::vector<Record> faster = ring_records({1, 2}, known_model(), {}, "hilbert", 0.7);
  std::erase_if(faster, [](const Record& record) { return record.work.pattern[0].dilation > 1; });
  const std::vector<RingFit> of_faster = fits_of(faster);
  const ClaimPrediction long_enough = answer_projections(claims, of_faster)[4];
  EXPECT_EQ(long_enough.verdict, ClaimVerdict::reproduced) << long_enough.predicted;
  const std::vector<Record> linear = ring_records({1, 2}, known_model(), {});
  const std::vector<RingFit> no_hilbert = fits_of(linear);
  EXPECT_NE(answer_projections(claims, no_hilbert)[0].says.find(
                "hold no ring with both Hilbert order and linear order"),
            std::string::npos);
}

TEST(PredictionReport, ReadsTheSameInEveryForm) {
  const std::vector<Record> records = ring_records({1, 2, 4}, known_model(), {}, "hilbert", 1.1);
  const std::vector<RingFit> fits = fits_of(records);
  PredictionReport report{.fits = &fits};
  report.predictions.push_back(predict(fits[0], at_ring_size(records.front(), 8)));
  report.claims = answer_projections(load_claims({}), fits);
  report.longest.push_back({"whole/1", 8, 12345, 0x1p33});
  report.notes.push_back("a note");
  const nlohmann::json json = nlohmann::json::parse(rendered(report, PredictionFormat::json));
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["fits"][0]["checks"][0]["ranks"], 4);
  EXPECT_EQ(json["predictions"][0]["ring_size"], 8);
  EXPECT_NEAR(json["fits"][0]["orders"]["dilated/hilbert"]["value"].get<double>(), 1.1, 0.01);
  EXPECT_EQ(json["claims"].size(), 13u);
  EXPECT_EQ(json.dump().find("null,null"), std::string::npos) << "an interval that is not finite";
  for (const PredictionFormat format : {PredictionFormat::text, PredictionFormat::markdown}) {
    const std::string text = rendered(report, format);
    for (const char* said : {"dilated", "head", "12345", "Projections of the reports", "a note", "latency"})
      EXPECT_NE(text.find(said), std::string::npos) << said;
  }
}

}  // namespace
}  // namespace hilbench
