// Persistent rings with one GPU per rank.
#include <cuda_runtime_api.h>

#include "kernels/cuda/runtime/blocking_kernel.hpp"
#include "kernels/ring/persistent_run.hpp"
#include "kernels/ring/transport/nccl.hpp"
#include "tests/kernels/ring/ring_gpus.hpp"

namespace hilbench {
namespace {

class PersistentMultiGpuRing
    : public testing::TestWithParam<std::tuple<TransportKind, int, RingAlgorithm, Sharding>> {
 protected:
  void SetUp() override {
    const auto [transport, ranks, algorithm, sharding] = GetParam();
    if (std::ssize(survey().gpus) < ranks) GTEST_SKIP() << ranks << " GPUs are needed";
    if (transport == TransportKind::nccl && !nccl_absence().empty()) GTEST_SKIP() << nccl_absence();
  }
};

TEST_P(PersistentMultiGpuRing, EqualsTheOracle) {
  const auto [transport, ranks, algorithm, sharding] = GetParam();
  const Gpus gpus(ranks);
  for (const int blocks : {4, 16})
    compare_with_oracle(*gpus.resources(ranks, transport, kPatience_s, blocks), algorithm, sharding, 3,
                        RingLaunch::persistent);
}
INSTANTIATE_TEST_SUITE_P(Gpus, PersistentMultiGpuRing,
                         testing::Combine(testing::Values(TransportKind::peer, TransportKind::nccl),
                                          testing::Values(2, 4), testing::ValuesIn(kPersistentAlgorithms),
                                          testing::ValuesIn(kShardings)));

// Long enough that tiles wait for chunks which are on their way; packed if the dilation is more than 1.
class LongPersistentMultiGpuRing : public testing::TestWithParam<std::tuple<TransportKind, int>> {};
TEST_P(LongPersistentMultiGpuRing, EqualsTheOracle) {
  const auto [transport, ranks] = GetParam();
  if (std::ssize(survey().gpus) < ranks) GTEST_SKIP() << ranks << " GPUs are needed";
  if (transport == TransportKind::nccl && !nccl_absence().empty()) GTEST_SKIP() << nccl_absence();
  const Gpus gpus(ranks);
  Random random(6);
  for (const auto& [mask, dilation] :
       {std::pair{Mask::full, 1}, std::pair{Mask::causal, 1}, std::pair{Mask::full, 4}}) {
    const Case work{.sequence_length = 20011,
                    .pattern = {{20011, dilation}},
                    .heads = 8,
                    .kv_heads = 8,
                    .head_dim = 128,
                    .dtype = Dtype::bf16,
                    .mask = mask,
                    .ring_size = ranks,
                    .device = DeviceKind::cuda};
    const AttentionProblem problem(work, random);
    const ExpectedRows expected(problem, sampled_rows(work, random, 6));
    for (const RingAlgorithm algorithm : kPersistentAlgorithms) {
      Variant variant{KernelChoice{.name = "dilated"}};
      variant.ring.algorithm = algorithm;
      variant.ring.launch = RingLaunch::persistent;
      for (const Implementation* kernel : kernels_for(work)) {
        if (kernel->prepare_walk == nullptr) continue;
        SCOPED_TRACE(described(work, variant));
        const auto resources =
            gpus.resources(ranks, transport, kPatience_s, nccl_blocks(Ring(work, variant)));
        const RingRun run{.problem = problem, .variant = variant, .kernel = *kernel};
        const auto outputs = run_rings({run, run}, *resources, 1);
        EXPECT_EQ(expected.mismatch(work, outputs[0]), "");
        EXPECT_EQ(outputs[0].o, outputs[1].o);
        EXPECT_EQ(outputs[0].lse, outputs[1].lse);
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Gpus, LongPersistentMultiGpuRing,
                         testing::Combine(testing::Values(TransportKind::peer, TransportKind::nccl),
                                          testing::Values(2, 4)));

// One GPU is busy for longer than the others wait: all ranks end with the reason, and a new ring works.
TEST(PersistentMultiGpuFaults, ALateGpuEndsTheRing) {
  if (std::ssize(survey().gpus) < 2) GTEST_SKIP() << "2 GPUs are needed";
  const Gpus gpus(2);
  Random random(2);
  const Case work{.sequence_length = 4096,
                  .pattern = {{4096, 1}},
                  .heads = 4,
                  .kv_heads = 4,
                  .head_dim = 128,
                  .dtype = Dtype::bf16,
                  .ring_size = 2,
                  .device = DeviceKind::cuda};
  Variant variant{KernelChoice{.name = "dilated"}};
  variant.ring.launch = RingLaunch::persistent;
  const Implementation* kernel = nullptr;
  for (const Implementation* each : kernels_for(work))
    if (each->prepare_walk != nullptr) kernel = each;
  if (kernel == nullptr) GTEST_SKIP() << "no kernel for this GPU has a persistent launch";
  const AttentionProblem problem(work, random);
  const Ring ring(work, variant);
  const auto late = gpus.resources(2, TransportKind::peer, 1);
  const auto errors = run_ranks(2, [&](int rank) {
    late->join(rank);
    Transport& transport = late->transport(rank);
    {
      RankTensors tensors(problem, ring, late->device(rank), rank);
      RingExecution execution(ring, *kernel, late->ring_device(rank), transport, 1);
      transport.barrier();
      if (rank == 1) cuda::hold(6'000'000'000, nullptr);  // about 3 s
      execution.run(tensors.operands());
      EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
      if (rank == 0) {
        EXPECT_THROW(execution.expect_complete(), TransportError);
        EXPECT_EQ(transport.failure(), "rank 0: its kernel waited 1 s for keys of rank 1");
      }
    }
    try {
      transport.barrier();
    } catch (const TransportError&) {
      late->leave(rank);
      throw;
    }
  });
  for (const std::string& error : errors)
    EXPECT_EQ(error, "rank 0: its kernel waited 1 s for keys of rank 1");
  const ExpectedRows expected(problem, sampled_rows(work, random, 6));
  const auto resources = gpus.resources(2, TransportKind::peer);
  EXPECT_EQ(expected.mismatch(work, run_rings({{problem, variant, *kernel}}, *resources, 1).front()), "");
}

}  // namespace
}  // namespace hilbench
