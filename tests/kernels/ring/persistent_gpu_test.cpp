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
          Variant variant{KernelChoice{.name = "dilated"}};
          variant.ring.algorithm = algorithm;
          variant.ring.launch = RingLaunch::persistent;
          variant.ring.sharding = sharding;
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

// Blocks of fewer keys, and rows that end before those of the code do.
TEST(PersistentGpuRingLonger, EqualsTheOracleAtEveryHeadDim) {
  if (!survey().absence.empty()) GTEST_SKIP() << survey().absence;
  const Gpus gpus(1);
  Random random(5);
  for (const std::int64_t head_dim : {40, 64, 80, 96, 120, 128, 192, 200, 256})
    for (const Mask mask : {Mask::full, Mask::causal})
      for (const KeyRows rows : {KeyRows::automatic, KeyRows::gathered}) {
        const Case work = long_case(head_dim, mask, 3);
        const Implementation* const kernel = persistent_kernel(work);
        if (kernel == nullptr) GTEST_SKIP() << "no kernel for this GPU has a persistent launch";
        const AttentionProblem problem(work, random);
        const ExpectedRows expected(problem, sampled_rows(work, random, 6));
        Variant variant{KernelChoice{.name = "dilated"}};
        variant.ring.launch = RingLaunch::persistent;
        variant.change().rows = rows;
        SCOPED_TRACE(described(work, variant));
        const auto resources = gpus.resources(3, TransportKind::peer);
        const AttentionOutput output =
            run_rings({{.problem = problem, .variant = variant, .kernel = *kernel, .chunks = kSmallChunks}},
                      *resources, 1)
                .front();
        EXPECT_EQ(expected.mismatch(work, output), "");
      }
}

// The launch of rank 0 of two, whose received chunks are whatever a test says.
class LoneLaunch {
 public:
  LoneLaunch(const Implementation& kernel, KeyRows rows, double patience_s)
      : ring_(work(), variant(rows)),
        walk_(ring_walk(ring_, 0, rows_of_tile(ring_, 0, kernel), kernel.causal_traversal)),
        problem_(work(), random_),
        tensors_(problem_, ring_, *gpus_.devices().front(), 0),
        execution_(kernel.prepare_walk(piece_case(ring_, 0, Mask::full), ring_.variant().kernel(),
                                       {.timeout_s = patience_s})) {
    const auto row = static_cast<std::size_t>(work().kv_heads * work().head_dim * 2);
    for (std::shared_ptr<void>* received : {&k_, &v_})
      *received = device_->allocate(static_cast<std::size_t>(walk_.received_rows) * row);
    walk_.chunks = shard_chunks(ring_, ChunkShape::lines);
    execution_->load(walk_);
  }

  static Case work() { return long_case(128, Mask::full, 2); }
  std::uint32_t chunks() const { return static_cast<std::uint32_t>(walk_.chunks.count(1)); }
  std::uint32_t gave_up() const { return *gave_up_; }
  // With `arrived` chunks; how long it takes.
  double run_s(std::uint32_t arrived, bool ring_has_failed = false) {
    *ended_ = ring_has_failed ? 1 : 0;
    const auto begin = std::chrono::steady_clock::now();
    execution_->run(tensors_.operands(),
                    {k_.get(), v_.get(), flags_.data(), kFlag - arrived, ended_.get(), gave_up_.get()});
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

 private:
  static constexpr std::uint32_t kFlag = 4;
  static Variant variant(KeyRows rows) {
    Variant variant{KernelChoice{.name = "dilated"}};
    variant.ring.launch = RingLaunch::persistent;
    variant.change().rows = rows;
    return variant;
  }

  Random random_{9};
  const Gpus gpus_{1};
  const Ring ring_;
  Walk walk_;
  const AttentionProblem problem_;
  RankTensors tensors_;
  const std::unique_ptr<RingDevice> device_ = cuda_ring_device();
  std::shared_ptr<void> k_, v_;
  const cuda::DeviceMemory<std::uint32_t> flags_{std::vector<std::uint32_t>{kFlag}};
  const std::shared_ptr<std::uint32_t> gave_up_ = device_->host_word(), ended_ = device_->host_word();
  const std::unique_ptr<WalkExecution> execution_;
};

// Keys that never arrive: the launch ends by itself, and says for which shard it waited. If they arrive, the
// next launch waits for nothing.
TEST(PersistentLaunch, GivesUpWhenItsPatienceEnds) {
  if (!survey().absence.empty()) GTEST_SKIP() << survey().absence;
  const Implementation* const kernel = persistent_kernel(LoneLaunch::work());
  if (kernel == nullptr) GTEST_SKIP() << "no kernel for this GPU has a persistent launch";
  for (const KeyRows rows : {KeyRows::automatic, KeyRows::gathered}) {
    LoneLaunch launch(*kernel, rows, 0.3);
    launch.run_s(launch.chunks());
    EXPECT_EQ(launch.gave_up(), 0u);
    const double waited_s = launch.run_s(0);
    EXPECT_EQ(launch.gave_up(), 1u);
    EXPECT_GT(waited_s, 0.25);
    EXPECT_LT(waited_s, 3);
  }
}

TEST(PersistentLaunch, EndsWithTheRingHoweverPatientItIs) {
  if (!survey().absence.empty()) GTEST_SKIP() << survey().absence;
  const Implementation* const kernel = persistent_kernel(LoneLaunch::work());
  if (kernel == nullptr) GTEST_SKIP() << "no kernel for this GPU has a persistent launch";
  LoneLaunch launch(*kernel, KeyRows::automatic, 60);
  EXPECT_LT(launch.run_s(0, true), 5);
  EXPECT_EQ(launch.gave_up(), 1u);
}

// K and V may change as soon as stream 0 is past the run, on every rank.
TEST(PersistentGpuRingLonger, RowsMayChangeAfterARun) {
  if (!survey().absence.empty()) GTEST_SKIP() << survey().absence;
  const Gpus gpus(1);
  Random random(4);
  const Case work = long_case(128, Mask::full, 3);
  const Implementation* const kernel = persistent_kernel(work);
  if (kernel == nullptr) GTEST_SKIP() << "no kernel for this GPU has a persistent launch";
  const AttentionProblem problem(work, random);
  for (const RingAlgorithm algorithm : kPersistentAlgorithms) {
    Variant variant{KernelChoice{.name = "dilated"}};
    variant.ring.algorithm = algorithm;
    variant.ring.launch = RingLaunch::persistent;
    SCOPED_TRACE(described(work, variant));
    const Ring ring(work, variant);
    const auto resources = gpus.resources(3, TransportKind::peer);
    const auto lse_of = [&](int rank, bool changes) {
      RankTensors tensors(problem, ring, resources->device(rank), rank);
      RingExecution execution(ring, *kernel, resources->ring_device(rank), resources->transport(rank), 1);
      const Operands own = tensors.operands();
      const auto rows = static_cast<std::size_t>(ring.shards().count(rank));
      execution.run(own);
      if (changes) {
        for (const void* tensor : {own.k, own.v})
          EXPECT_EQ(cudaMemsetAsync(const_cast<void*>(tensor), 0x55,
                                    rows * static_cast<std::size_t>(work.kv_heads * work.head_dim * 2)),
                    cudaSuccess);
      }
      execution.expect_complete();
      std::vector<float> lse(rows * static_cast<std::size_t>(work.heads));
      EXPECT_EQ(cudaMemcpy(lse.data(), own.lse, lse.size() * sizeof(float), cudaMemcpyDeviceToHost),
                cudaSuccess);
      resources->transport(rank).barrier();
      return lse;
    };
    const auto errors = run_ranks(3, [&](int rank) {
      resources->join(rank);
      EXPECT_EQ(lse_of(rank, true), lse_of(rank, false));
      resources->leave(rank);
    });
    for (const std::string& error : errors) EXPECT_EQ(error, "");
  }
}

}  // namespace
}  // namespace hilbench
