#include "harness/predict/fit.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kernels/base/text/error.hpp"
#include "tests/harness/predict/records.hpp"
#include "tests/sanitized.hpp"

namespace hilbench {
namespace {

RingFit fit_of(const std::vector<Record>& records, std::set<std::int64_t> ranks = {1, 2}) {
  auto groups = ring_samples(records);
  EXPECT_EQ(groups.size(), 1u);
  return {groups.begin()->first, std::move(groups.begin()->second), ranks};
}

Case ring_case(std::int64_t length, std::int64_t ranks) {
  return {.sequence_length = length,
          .pattern = {{length, 1}},
          .heads = 1,
          .kv_heads = 1,
          .head_dim = 64,
          .dtype = Dtype::bf16,
          .ring_size = ranks,
          .device = DeviceKind::cuda};
}

double priced(const RingModel& model, Coefficient which) {
  return model.ns[static_cast<std::size_t>(which)];
}

TEST(RingModel, AddsUpWhatTheRanksDoByHand) {
  const RingMachine four{.threads = 2, .multiprocessors = 4};
  const RingShape shape = ring_shape(ring_case(1024, 2), {KernelChoice{.name = "dilated"}}, four);
  RingModel model{.ns = {100, 0.001, 0.01, 7, 5, 50, 1000, 0.5, 9}};
  // A piece: 512 queries in four tiles, 512 keys. A shard of K and V: 512 rows of 2 x 64 elements of 2 bytes.
  // O is rounded from fp32 once.
  const double flops = 0.001 * 4 * 64 * 512 * 512, rows = 100 + 0.01 * 64 * 512;
  const double piece = rows + flops + 7;
  const double exchange = 1000 + 0.5 * 2 * 512 * 64 * 2;
  EXPECT_NEAR(model_time(shape, model, RingPart::computation).ns, 50 + 2 * piece + rows, 1e-6);
  EXPECT_NEAR(model_time(shape, model, RingPart::exchange).ns, 50 + exchange, 1e-6);
  EXPECT_NEAR(model_time(shape, model).ns, 50 + 2 * piece + rows + exchange, 1e-6) << "nothing hidden";
  model.hidden = 1;
  EXPECT_NEAR(model_time(shape, model).ns, 50 + std::max(piece + rows, exchange) + piece, 1e-6)
      << "all hidden";
  EXPECT_NEAR(model_time(ring_shape(ring_case(1024, 1), {KernelChoice{.name = "dilated"}}, four), model).ns,
              100 + 0.001 * 4 * 64 * 1024 * 1024 + 2 * 7, 1e-6);
  const RingMachine eight{.multiprocessors = 8};
  EXPECT_NEAR(model_time(ring_shape(ring_case(1024, 2), {KernelChoice{.name = "dilated"}}, eight), model,
                         RingPart::computation)
                  .ns,
              50 + 2 * (piece + flops) + rows, 1e-6)
      << "half of the multiprocessors have no tile";
  Case on_cpu = ring_case(1024, 2);
  on_cpu.device = DeviceKind::cpu;
  EXPECT_NEAR(
      model_time(ring_shape(on_cpu, {KernelChoice{.name = "dilated"}}, four), model, RingPart::computation)
          .ns,
      50 + 2 * (rows + flops + 7 * 64 * 512) + rows - 100, 1e-6);
}

// Rows that no branch covers are cleared, by one launch more.
TEST(RingModel, ClearsWhatNoBranchCovers) {
  Case work = ring_case(1024, 1);
  work.pattern = {{1024, 4}};
  const RingModel model{.ns = {100, 0, 0, 0, 5, 50, 0, 0, 0}};
  EXPECT_NEAR(model_time(ring_shape(work, {KernelChoice{.name = "dilated"}}, {}), model).ns,
              2 * 100 + 5 * 768 * 64, 1e-6);
}

// A rank of two has half of the heads in two parts of one head. The first part waits for its exchange, whose
// Q, K, V are of 512 rows each; O and LSE of it go back while the second part is computed.
TEST(RingModel, OverlapsThePartsOfHeads) {
  Case work = ring_case(1024, 2);
  work.heads = work.kv_heads = 4;
  const Variant ulysses{KernelChoice{.name = "dilated"}, {.algorithm = RingAlgorithm::ulysses}};
  const RingShape shape = ring_shape(work, ulysses, {.multiprocessors = 8});
  RingModel model{.ns = {0, 0.001, 0, 0, 0, 0, 0, 0.5, 0}, .hidden = 1};
  const double part = 0.001 * 4 * 64 * 1024 * 1024;
  const double there = 0.5 * 3 * 512 * 64 * 2, back = 0.5 * 512 * (64 * 2 + 4);
  EXPECT_NEAR(model_time(shape, model, RingPart::exchange).ns, 2 * (there + back), 1e-6);
  EXPECT_NEAR(model_time(shape, model).ns, there + std::max(part, there) + std::max(part, back) + back, 1e-6);
}

// Causal tiles of 1 to 8 times 128 keys on 4 multiprocessors.
TEST(TileSchedule, GivesEachTileToTheFirstThatIsFree) {
  Case work = ring_case(1024, 1);
  work.mask = Mask::causal;
  const Ring ring(work, {KernelChoice{.name = "dilated"}});
  const PieceWork whole = piece_works(ring).front();
  const auto keys = [&](bool longest_first) {
    return tile_schedule(ring, 0, {}, whole, {.multiprocessors = 4, .longest_first = longest_first});
  };
  EXPECT_EQ(keys(false).keys, (4 + 8) * 128);  // 1 + 5, 2 + 6, 3 + 7, 4 + 8
  EXPECT_EQ(keys(false).tiles, 2);
  EXPECT_EQ(keys(true).keys, (8 + 1) * 128);  // 8 + 1, 7 + 2, 6 + 3, 5 + 4
  work.sequence_length = 1 << 20;
  work.pattern = {{1 << 20, 1}};
  const Ring large(work, {KernelChoice{.name = "dilated"}});
  const PieceWork many = piece_works(large).front();
  const double mean = many.pairs / 128 / 4;
  EXPECT_NEAR(tile_schedule(large, 0, {}, many, {.multiprocessors = 4}).keys, mean, 0.001 * mean)
      << "too many to be scheduled one by one";
}

// Every second row of a shard of 512, K and V. On a GPU one launch packs them.
TEST(RingModel, PacksBeforeItSends) {
  Case work = ring_case(1024, 2);
  work.pattern = {{1024, 2}};
  const Variant packed{KernelChoice{.name = "dilated"}, {.algorithm = RingAlgorithm::ring_packed}};
  const RingModel model{.ns = {100, 0, 0, 0, 0, 0, 1000, 0.5, 9}};
  const double bytes = 256 * 2 * 64 * 2;
  EXPECT_NEAR(model_time(ring_shape(work, packed, {}), model, RingPart::exchange).ns,
              9 * bytes + 100 + 1000 + 0.5 * bytes, 1e-6);
  work.device = DeviceKind::cpu;
  EXPECT_NEAR(model_time(ring_shape(work, packed, {.threads = 2}), model, RingPart::exchange).ns,
              9 * bytes + 1000 + 0.5 * bytes, 1e-6);
}

// Two parts of each rank's heads, of two ranks: each takes Q, K and V apart by six copies, O and LSE by two,
// and puts those of the other rank in their places by two.
TEST(RingModel, CopiesOfHeadsAreLaunches) {
  Case work = ring_case(1024, 2);
  work.heads = work.kv_heads = 4;
  Variant heads{KernelChoice{.name = "dilated"}, {.algorithm = RingAlgorithm::ulysses, .head_parts = 2}};
  heads.ring.head_moves = HeadMoves::regrouped;
  const RingModel model{.ns = {100, 0, 0, 0, 0, 0, 0, 0, 0}};
  EXPECT_NEAR(model_time(ring_shape(work, heads, {}), model, RingPart::exchange).ns, 2 * 10 * 100, 1e-6);
  work.device = DeviceKind::cpu;
  EXPECT_EQ(model_time(ring_shape(work, heads, {.threads = 2}), model, RingPart::exchange).ns, 0);
}

// Of four ranks with two parts: in the first and the last exchange nothing is computed, so that a kernel
// moves all; the messages of the others are 3 each.
TEST(RingModel, HeadsThatMoveDirectlyAreOneMessageIfNothingIsComputed) {
  Case work = ring_case(1024, 4);
  work.heads = work.kv_heads = 8;
  Variant heads{KernelChoice{.name = "dilated"}, {.algorithm = RingAlgorithm::ulysses, .head_parts = 2}};
  const RingModel model{.ns = {100, 0, 0, 0, 0, 0, 1000, 0, 9}};
  const auto exchange_ns = [&] {
    return model_time(ring_shape(work, heads, {.threads = 4}), model, RingPart::exchange).ns;
  };
  EXPECT_NEAR(exchange_ns(), (1 + 3 + 3 + 1) * 1000, 1e-6);
  heads.ring.transport = TransportKind::nccl;
  EXPECT_GT(exchange_ns(), 4 * 3 * 1000) << "and copies";
  heads.ring.transport = TransportKind::automatic;
  work.device = DeviceKind::cpu;
  EXPECT_NEAR(exchange_ns(), 4 * 3 * 1000, 1e-6);
}

TEST(RingModel, CarriesTheLinearFunctionThatGivesItsTime) {
  const RingModel model = known_model();
  for (const std::int64_t ranks : {1, 2, 4, 7}) {
    Case work = ring_case(100'000, ranks);
    work.mask = Mask::causal;
    const ModelTime time = model_time(ring_shape(work, {KernelChoice{.name = "dilated"}}, {}), model);
    double sum = 0;
    for (std::size_t i = 0; i < kCoefficients; ++i) sum += time.amounts[i] * model.ns[i];
    EXPECT_NEAR(sum, time.ns, 1e-9 * time.ns);
  }
}

TEST(RingModel, RanksThatShareCoresTakeTurns) {
  Case work = ring_case(4096, 4);
  work.device = DeviceKind::cpu;
  const RingModel model{.ns = {0, 0.01, 0, 0, 0, 0, 0, 0, 0}};
  const double whole = 0.01 * 4 * 64 * 4096 * 4096;
  EXPECT_NEAR(model_time(ring_shape(work, {KernelChoice{.name = "dilated"}}, {.threads = 2}), model).ns,
              whole / 2, 1e-3);
  EXPECT_NEAR(model_time(ring_shape(work, {KernelChoice{.name = "dilated"}}, {.threads = 4}), model).ns,
              whole / 4, 1e-3);
  EXPECT_NEAR(model_time(ring_shape(work, {KernelChoice{.name = "dilated"}}, {.threads = 8}), model).ns,
              whole / 8, 1e-3);
}

TEST(RingFit, FindsTheModelThatMadeTheRecords) {
  const RingModel truth = known_model();
  const RingFit fit = fit_of(ring_records({1, 2}, truth, {}));
  for (std::size_t i = 0; i < kCoefficients; ++i)
    EXPECT_NEAR(fit.model().ns[i], truth.ns[i], 0.02 * truth.ns[i]) << coefficient_table()[i].name;
  EXPECT_NEAR(fit.model().hidden, truth.hidden, 0.02);
  EXPECT_LT(fit.left_out().worst, 0.01);
  for (const std::int64_t ranks : {4, 8, 16}) {
    const RingShape shape = ring_shape(ring_case(1 << 20, ranks), {KernelChoice{.name = "dilated"}}, {});
    const double ns = model_time(shape, truth).ns;
    EXPECT_NEAR(fit.time(shape, "dilated/linear").value, ns, 0.01 * ns) << ranks;
  }
}

// Few tiles on a large device: the time of a piece does not fall if each rank has fewer tiles.
TEST(RingFit, TellsThatFewTilesDoNotFillAGpu) {
  const RingModel truth = known_model();
  const RingFit fit = fit_of(ring_records({1, 2}, truth, {}));
  Case work = ring_case(4096, 8);
  work.heads = work.kv_heads = 4;
  work.head_dim = 128;
  const RingShape shape = ring_shape(work, {KernelChoice{.name = "dilated"}}, {});
  const double ns = model_time(shape, truth, RingPart::computation).ns;
  const double filled = priced(truth, Coefficient::flop) * 4 * 128 * 512 * 4096 * 4;  // of a rank's pairs
  ASSERT_GT(ns, 3 * filled) << "the case is one of few tiles";
  EXPECT_NEAR(model_time(shape, fit.model(), RingPart::computation).ns, ns, 0.02 * ns);
}

TEST(RingFit, ItsIntervalsHoldTheTruthUnderNoise) {
  const RingModel truth = known_model();
  int held = 0, asked = 0;
  for (std::uint64_t seed = 1; seed <= (kSanitized ? 1 : 5); ++seed) {
    Noise noise{.relative = 0.05};
    noise.random.seed(seed);
    const RingFit fit = fit_of(ring_records({1, 2}, truth, noise));
    EXPECT_GT(fit.left_out().median, 0.005) << "noise shows in what is predicted from the others";
    EXPECT_LT(fit.left_out().median, 0.15);
    for (const Coefficient which : {Coefficient::flop, Coefficient::byte}) {
      const Estimate estimate = fit.coefficient(which);
      held += estimate.ci.low <= priced(truth, which) && priced(truth, which) <= estimate.ci.high;
      ++asked;
    }
    for (const std::int64_t ranks : {4, 8}) {
      const RingShape shape = ring_shape(ring_case(1 << 18, ranks), {KernelChoice{.name = "dilated"}}, {});
      const Estimate estimate = fit.time(shape, "dilated/linear");
      const double ns = model_time(shape, truth).ns;
      held += estimate.ci.low <= ns && ns <= estimate.ci.high;
      EXPECT_LT(estimate.ci.high / estimate.ci.low, 2) << "an interval that says something";
      ++asked;
    }
  }
  EXPECT_GE(held, asked * 85 / 100) << "of " << asked;
}

TEST(RingFit, TellsRecordsThatFollowAnotherLaw) {
  Noise none;
  std::vector<Record> records = ring_records({1, 2}, known_model(), none);
  const double before = fit_of(records).left_out().median;
  for (Record& record : records) {  // time that grows as the square root of the work
    record.time->median_ns = std::sqrt(record.time->median_ns) * 1e3;
    record.counters.clear();
  }
  EXPECT_GT(fit_of(records).left_out().median, 10 * before + 0.1);
}

TEST(RingFit, TakesAnOrderForAFactorOnTheComputation) {
  const std::vector<Record> records = ring_records({1, 2}, known_model(), {}, "hilbert", 1.25);
  const RingFit fit = fit_of(records);
  ASSERT_TRUE(fit.orders().contains("dilated/hilbert"));
  const OrderFactor& order = fit.orders().at("dilated/hilbert");
  EXPECT_NEAR(order.factor.value, 1.25, 0.01);
  EXPECT_EQ(order.pairs, 32u);
  const RingShape bound = ring_shape(ring_case(1 << 20, 4), {KernelChoice{.name = "dilated"}}, {});
  EXPECT_NEAR(fit.speedup_over_linear(bound, "dilated/hilbert")->value, 0.8, 0.01) << "computation alone";
  const RingShape sending = ring_shape(ring_case(4096, 16), {KernelChoice{.name = "dilated"}}, {});
  EXPECT_GT(fit.speedup_over_linear(sending, "dilated/hilbert")->value, 0.9) << "exchange hides the order";
  EXPECT_FALSE(fit.speedup_over_linear(bound, "dilated/random"));
}

std::string refusal(const std::vector<Record>& records, std::set<std::int64_t> ranks = {1, 2}) {
  try {
    fit_of(records, std::move(ranks));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(RingFit, RefusesRecordsThatTellNothingOfRings) {
  const RingModel truth = known_model();
  EXPECT_NE(refusal(ring_records({1}, truth, {})).find("no rings to fit on"), std::string::npos);
  EXPECT_NE(refusal(ring_records({1, 4}, truth, {})).find("at ring size 1, 2 exchanged anything"),
            std::string::npos);
  EXPECT_EQ(refusal(ring_records({1, 4}, truth, {}), {1, 4}), "");
  std::vector<Record> few = ring_records({1, 2}, truth, {});
  std::erase_if(few, [&](const Record& record) {
    return record.work.sequence_length != 65536 || record.work.mask == Mask::causal ||
           record.work.pattern[0].dilation > 1;
  });
  EXPECT_NE(refusal(few).find("2 cases are too few"), std::string::npos) << refusal(few);
  (*few[0].environment)["device_state"] = {{"foreign_processes", 1}};
  EXPECT_EQ(ring_samples(few).begin()->second.size(), few.size() - 1);
}

}  // namespace
}  // namespace hilbench
