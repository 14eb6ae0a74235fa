// Rings with a GPU for each rank.
#include "kernels/ring/nccl.hpp"
#include "tests/kernels/ring/ring_gpus.hpp"

namespace hilbench {
namespace {

class MultiGpuRing : public testing::TestWithParam<std::tuple<RingTransport, int, RingAlgorithm, Sharding>> {
 protected:
  void SetUp() override {
    const auto [transport, ranks, algorithm, sharding] = GetParam();
    if (std::ssize(survey().gpus) < ranks) GTEST_SKIP() << ranks << " GPUs are needed";
    if (transport == RingTransport::nccl && !nccl_absence().empty()) GTEST_SKIP() << nccl_absence();
  }
};

TEST_P(MultiGpuRing, EqualsTheOracle) {
  const auto [transport, ranks, algorithm, sharding] = GetParam();
  const Gpus gpus(ranks);
  // Joining NCCL takes a second.
  compare_with_oracle(gpus, transport, ranks, algorithm, sharding, transport == RingTransport::nccl ? 1 : 3);
}
INSTANTIATE_TEST_SUITE_P(Peer, MultiGpuRing,
                         testing::Combine(testing::Values(RingTransport::peer), testing::Values(2, 4),
                                          testing::ValuesIn(kRingAlgorithms), testing::ValuesIn(kShardings)));
INSTANTIATE_TEST_SUITE_P(Nccl, MultiGpuRing,
                         testing::Combine(testing::Values(RingTransport::nccl), testing::Values(2, 4),
                                          testing::ValuesIn(kRingAlgorithms),
                                          testing::Values(Sharding::zigzag)));

}  // namespace
}  // namespace hilbench
