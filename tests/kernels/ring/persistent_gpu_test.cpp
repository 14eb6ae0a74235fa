// Persistent rings whose ranks share one GPU.
#include <cuda_runtime_api.h>

#include <chrono>

#include "kernels/cuda/runtime/device_memory.hpp"
#include "kernels/ring/rank_case.hpp"
#include "kernels/ring/ring_walk.hpp"
#include "kernels/ring/shard_chunks.hpp"
#include "tests/kernels/ring/ring_gpus.hpp"

namespace hilbench {
namespace {

class PersistentGpuRing : public testing::TestWithParam<std::tuple<RingAlgorithm, Sharding>> {
 protected:
  void SetUp() override {
    if (!survey().absence.empty()) GTEST_SKIP() << survey().absence;
  }
};

TEST_P(PersistentGpuRing, OnOneGpuEqualsTheOracle) {
  const auto [algorithm, sharding] = GetParam();
  const Gpus gpus(1);
  for (const int ranks : {2, 3, 4, 7})
    compare_with_oracle(*gpus.resources(ranks, TransportKind::peer), algorithm, sharding, 6,
                        RingLaunch::persistent);
}
INSTANTIATE_TEST_SUITE_P(All, PersistentGpuRing,
                         testing::Combine(testing::ValuesIn(kPersistentAlgorithms),
                                          testing::ValuesIn(kShardings)));

const Implementation* persistent_kernel(const Case& work) {
  for (const Implementation* kernel : kernels_for(work))
    if (kernel->prepare_walk != nullptr) return kernel;
  return nullptr;
}

Case long_case(std::int64_t head_dim, Mask mask, std::int64_t ranks) {
  return {.sequence_length = 4111,
          .pattern = {{4111, 1}},
          .heads = 8,
          .kv_heads = 4,
          .head_dim = head_dim,
          .dtype = Dtype::bf16,
          .mask = mask,
          .ring_size = ranks,
          .device = DeviceKind::cuda};
}

// Several tiles and blocks of keys per stretch, one branch and several, and the same bits twice.
TEST(PersistentGpuRingLonger, EqualsTheOracle) {
  if (!survey().absence.empty()) GTEST_SKIP() << survey().absence;
  const Gpus gpus(1);
  Random random(3);
  for (const Mask mask : {Mask::full, Mask::causal})
    for (const bool branches : {false, true}) {
      Case work = long_case(branches ? 128 : 64, mask, 4);
      if (branches) work.pattern = {{1400, 1}, {4111, 4}};
      const Implementation* const kernel = persistent_kernel(work);
      if (kernel == nullptr) GTEST_SKIP() << "no kernel for this GPU has a persistent launch";
      const AttentionProblem problem(work, random);
      const ExpectedRows expected(problem, sampled_rows(work, random, 6));
      for (const RingAlgorithm algorithm : kPersistentAlgorithms)
        for (const Sharding sharding : kShardings) {
          Variant variant{.kernel = "dilated"};
          variant.ring_algorithm = algorithm;
          variant.ring_launch = RingLaunch::persistent;
          variant.sharding = sharding;
          SCOPED_TRACE(described(work, variant));
          const auto run = [&] {
            const auto resources = gpus.resources(4, TransportKind::peer);
            return run_rings(
                       {{.problem = problem, .variant = variant, .kernel = *kernel, .chunks = kSmallChunks}},
                       *resources, 1)
                .front();
          };
          const AttentionOutput first = run();
          EXPECT_EQ(expected.mismatch(work, first), "");
          const AttentionOutput again = run();
          EXPECT_EQ(again.o, first.o);
          EXPECT_EQ(again.lse, first.lse);
        }
    }
}

// Keys that never arrive: the launch ends by itself, and says for which shard it waited. If they arrive, the
// next launch waits for nothing.
TEST(PersistentLaunch, GivesUpWhenItsPatienceEnds) {
  if (!survey().absence.empty()) GTEST_SKIP() << survey().absence;
  const Gpus gpus(1);
  Random random(9);
  for (const KeyRows rows : {KeyRows::automatic, KeyRows::gathered}) {
    const Case work = long_case(128, Mask::full, 2);
    const Implementation* const kernel = persistent_kernel(work);
    if (kernel == nullptr) GTEST_SKIP() << "no kernel for this GPU has a persistent launch";
    Variant variant{.kernel = "dilated"};
    variant.ring_launch = RingLaunch::persistent;
    variant.rows = rows;
    const Ring ring(work, variant);
    Walk walk = ring_walk(ring, 0, rows_of_tile(ring, 0, *kernel), kernel->causal_traversal);
    walk.chunks = shard_chunks(ring, ChunkShape::heads);
    const AttentionProblem problem(work, random);
    RankTensors tensors(problem, ring, *gpus.devices().front(), 0);
    const auto device = cuda_ring_device();
    const auto row = static_cast<std::size_t>(work.kv_heads * work.head_dim * 2);
    const auto k = device->allocate(static_cast<std::size_t>(walk.received_rows) * row);
    const auto v = device->allocate(static_cast<std::size_t>(walk.received_rows) * row);
    const cuda::DeviceMemory<std::uint32_t> flags(std::vector<std::uint32_t>{4});
    const auto gave_up = device->host_words(1);
    const auto execution = kernel->prepare_walk(piece_case(ring, 0, Mask::full), variant, {.timeout_s = 0.3});
    execution->load(walk);
    const auto run = [&](std::uint32_t first) {
      const auto begin = std::chrono::steady_clock::now();
      execution->run(tensors.operands(), {k.get(), v.get(), flags.data(), first, nullptr, gave_up.get()});
      EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    run(4 - static_cast<std::uint32_t>(walk.chunks.count(1)));  // all chunks are here
    EXPECT_EQ(*gave_up, 0u);
    const double waited_s = run(4);  // none is here
    EXPECT_EQ(*gave_up, 1u);
    EXPECT_GT(waited_s, 0.25);
    EXPECT_LT(waited_s, 3);
  }
}

}  // namespace
}  // namespace hilbench
