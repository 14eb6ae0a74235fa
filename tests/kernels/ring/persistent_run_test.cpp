#include "kernels/ring/persistent_run.hpp"

#include <gtest/gtest.h>

#include <regex>

#include "kernels/ring/transport/threads.hpp"
#include "tests/kernels/ring/ring_cases.hpp"
#include "tests/kernels/ring/walk_emulation.hpp"
#include "tests/sanitized.hpp"

namespace hilbench {
namespace {

constexpr ChunkSizes kSmallChunks = {
    .least_line_bytes = 1, .least_bytes = 1, .least_bytes_of_whole_heads = 1};
constexpr double kLongestWait_s = 60;  // for keys that arrive late

using Ends = std::vector<std::shared_ptr<Transport>>;

Ends ends_of(int ranks, double timeout_s, EmulatedLink link = {}, bool lines = true) {
  Ends ends;
  for (auto& end : thread_transports(ranks, timeout_s, link))
    ends.push_back(std::make_shared<LateTransport>(std::move(end), lines));
  return ends;
}

AttentionOutput run_emulated(const AttentionProblem& problem, const Variant& variant, bool lines,
                             decltype(RingRun::device) device = StreamedDevice::make) {
  const Implementation kernel = emulated_walk_kernel();
  const auto ranks = static_cast<int>(problem.work.ring_size);
  EmulatedLink link;
  if (variant.ring.outer_link == OuterLink::emulated_host)
    link.group_size = ranks / static_cast<int>(variant.ring.groups);
  const auto resources = cpu_rank_resources(ends_of(ranks, kLongestWait_s, link, lines), 1);
  return run_rings({{.problem = problem,
                     .variant = variant,
                     .kernel = kernel,
                     .chunks = kSmallChunks,
                     .device = device}},
                   *resources, 1)
      .front();
}

// Four ranks of 16 heads of 128 in bf16.
int blocks_of(std::int64_t length, Mask mask, RingLaunch launch = RingLaunch::persistent,
              std::int64_t segment = 1 << 20) {
  const Case work{.sequence_length = length,
                  .pattern = {{segment, 1}},
                  .heads = 16,
                  .kv_heads = 16,
                  .head_dim = 128,
                  .dtype = Dtype::bf16,
                  .mask = mask,
                  .ring_size = 4};
  Variant variant{KernelChoice{.name = "dilated"}};
  variant.ring.launch = launch;
  return nccl_blocks(Ring(work, variant));
}

TEST(NcclBlocks, AreMoreIfThereIsLessToComputeForEachByte) {
  EXPECT_EQ(blocks_of(1 << 18, Mask::full), 4);
  EXPECT_EQ(blocks_of(1 << 16, Mask::full), 8);
  EXPECT_EQ(blocks_of(1 << 16, Mask::causal), 16);
  EXPECT_EQ(blocks_of(1 << 14, Mask::full), 32);
}

TEST(NcclBlocks, AreNotLimitedIfNoLaunchWaitsForKeys) {
  EXPECT_EQ(blocks_of(1 << 14, Mask::full, RingLaunch::steps), 0);
  EXPECT_EQ(blocks_of(1 << 14, Mask::full, RingLaunch::persistent, 1 << 12), 0) << "nothing is exchanged";
}

class PersistentEqualsOneRank : public testing::TestWithParam<std::tuple<RingAlgorithm, Sharding>> {};

// Ring sizes, masks and dtypes as in RingEqualsOneRank; over transports with lines, and without them, as
// NCCL.
TEST_P(PersistentEqualsOneRank, ForEverySizeMaskAndDtype) {
  const auto [algorithm, sharding] = GetParam();
  Random random(static_cast<std::uint64_t>(static_cast<int>(algorithm) * 10 + static_cast<int>(sharding)));
  for (const std::int64_t ranks : {2, 3, 4, 5, 8})
    for (const Mask mask : {Mask::full, Mask::causal})
      for (const Dtype dtype : {Dtype::fp32, Dtype::bf16})
        for (int i = 0; i < (kSanitized ? 1 : 2); ++i) {
          if (kSanitized && (mask == Mask::causal) != (ranks % 2 == 0)) continue;
          Case work = random_ring_case(random, ranks, 90, algorithm);
          work.mask = mask;
          work.dtype = dtype;
          Variant variant = random_ring_variant(random, ranks, algorithm, sharding);
          variant.ring.launch = RingLaunch::persistent;
          if (variant.kernel().traversal == "sawtooth") variant.change().traversal = "auto";
          variant.change().rows = one_of(random, {KeyRows::automatic, KeyRows::gathered});
          if (!Ring(work, variant).persistent()) continue;
          const bool lines = one_of(random, {false, true});
          SCOPED_TRACE(described(work, variant) + (lines ? ", lines" : ""));
          const AttentionProblem problem(work, random);
          const ExpectedRows expected(problem, every_row(work));
          EXPECT_EQ(expected.mismatch(work, run_emulated(problem, variant, lines)), "");
          if (HasFailure()) return;
        }
}
INSTANTIATE_TEST_SUITE_P(All, PersistentEqualsOneRank,
                         testing::Combine(testing::ValuesIn(kPersistentAlgorithms),
                                          testing::ValuesIn(kShardings)));

// All ranks on one stream, as on one GPU: nothing that is enqueued waits for what comes after it.
TEST(PersistentRun, RanksMayShareAStream) {
  static std::shared_ptr<EmulatedStream> shared;
  shared = std::make_shared<EmulatedStream>();
  const auto device = [](RingDevice& other) {
    EmulatedStream::own() = shared;
    return StreamedDevice::make(other);
  };
  Random random(7);
  for (const RingAlgorithm algorithm : kPersistentAlgorithms)
    for (const std::int64_t ranks : {2, 4}) {
      Case work = random_ring_case(random, ranks, 60, algorithm);
      work.pattern = {{work.sequence_length, 1}, {work.sequence_length, 2}};
      Variant variant = random_ring_variant(random, ranks, algorithm, Sharding::automatic);
      variant.ring.launch = RingLaunch::persistent;
      variant.change().traversal = "auto";
      variant.ring.outer_link = OuterLink::direct;
      if (!Ring(work, variant).persistent()) continue;
      SCOPED_TRACE(described(work, variant));
      const AttentionProblem problem(work, random);
      const ExpectedRows expected(problem, every_row(work));
      EXPECT_EQ(expected.mismatch(work, run_emulated(problem, variant, ranks == 2, device)), "");
    }
  shared = nullptr;
}

// Two executions of a small ring, with chunks of a head. `prepare` is called by each rank before the second.
class PersistentFaults : public testing::Test {
 protected:
  std::vector<std::string> run(double timeout_s, const std::function<void(int rank)>& prepare) const {
    Random random(1);
    const AttentionProblem problem(work_, random);
    const Ring ring(work_, variant_);
    const Implementation kernel = emulated_walk_kernel();
    const auto ranks = static_cast<int>(work_.ring_size);
    const Ends ends = ends_of(ranks, timeout_s);
    return run_ranks(ranks, [&](int rank) {
      Transport& transport = *ends[static_cast<std::size_t>(rank)];
      const auto device = open_cpu_device(1);
      RankTensors tensors(problem, ring, *device, rank);
      const auto memory = cpu_ring_device(1);
      StreamedDevice streamed(*memory);
      RingExecution execution(ring, kernel, streamed, transport, 1, kSmallChunks);
      execution.run(tensors.operands());
      execution.expect_complete();
      prepare(rank);
      execution.run(tensors.operands());
      execution.expect_complete();
      transport.barrier();
    });
  }

  Case work_{
      .sequence_length = 64, .pattern = {{64, 1}}, .heads = 2, .kv_heads = 2, .head_dim = 16, .ring_size = 3};
  Variant variant_ = [] {
    Variant variant{KernelChoice{.name = "dilated_cpu"}};
    variant.ring.launch = RingLaunch::persistent;
    variant.ring.sharding = Sharding::contiguous;
    return variant;
  }();
};

TEST_F(PersistentFaults, ASilentRankIsNamed) {
  for (const RingAlgorithm algorithm : {RingAlgorithm::ring, RingAlgorithm::allgather}) {
    variant_.ring.algorithm = algorithm;
    const std::vector<std::string> errors = run(1, [](int rank) {
      if (rank == 1) std::this_thread::sleep_for(std::chrono::seconds(3));
    });
    EXPECT_TRUE(std::regex_match(
        errors[0],
        std::regex("rank [02] waited 1 s for ([0-9]+ bytes from rank 1|rank 1 to receive [0-9]+ bytes)")))
        << errors[0];
    for (const std::string& error : errors) EXPECT_EQ(error, errors[0]);
  }
}

// The others end at once, not after their patience.
TEST_F(PersistentFaults, ARankThatDiesBeforeItsLaunchEndsTheOthers) {
  for (const RingAlgorithm algorithm : {RingAlgorithm::ring, RingAlgorithm::allgather}) {
    variant_.ring.algorithm = algorithm;
    const auto begin = std::chrono::steady_clock::now();
    const std::vector<std::string> errors = run(300, [](int rank) {
      if (rank == 1) EmulatedWalk::before_launch() = [] { throw std::runtime_error("rank 1 cannot launch"); };
    });
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
    for (const std::string& error : errors) EXPECT_EQ(error, "rank 1 cannot launch");
  }
}

// Ranks that send nothing: the kernels give up, and so does the ring.
TEST(PersistentRun, EndsIfKeysNeverArrive) {
  const Case work{
      .sequence_length = 64, .pattern = {{64, 1}}, .heads = 2, .kv_heads = 2, .head_dim = 16, .ring_size = 2};
  Variant variant{KernelChoice{.name = "dilated_cpu"}};
  variant.ring.launch = RingLaunch::persistent;
  Random random(1);
  const AttentionProblem problem(work, random);
  const Ring ring(work, variant);
  const Implementation kernel = emulated_walk_kernel();
  const Ends ends = ends_of(2, 0.2);
  const auto errors = run_ranks(2, [&](int rank) {
    const auto device = open_cpu_device(1);
    RankTensors tensors(problem, ring, *device, rank);
    const auto memory = cpu_ring_device(1);
    StreamedDevice streamed(*memory);
    RingExecution execution(ring, kernel, streamed, *ends[static_cast<std::size_t>(rank)], 1);
    execution.run(tensors.operands(), RingPart::computation);  // before anything was exchanged
    execution.expect_complete();
  });
  EXPECT_EQ(errors[0].substr(0, 4), "rank");
  for (const std::string& error : errors)
    EXPECT_NE(error.find("its kernel waited 0.2 s for keys of rank"), std::string::npos) << error;
}

}  // namespace
}  // namespace hilbench
