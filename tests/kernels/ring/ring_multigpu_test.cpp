// Rings with one GPU per rank.
#include "kernels/ring/transport/nccl.hpp"
#include "tests/kernels/ring/ring_gpus.hpp"

namespace hilbench {
namespace {

class MultiGpuRing : public testing::TestWithParam<std::tuple<TransportKind, int, RingAlgorithm, Sharding>> {
 protected:
  void SetUp() override {
    const auto [transport, ranks, algorithm, sharding] = GetParam();
    if (std::ssize(survey().gpus) < ranks) GTEST_SKIP() << ranks << " GPUs are needed";
    if (transport == TransportKind::nccl && !nccl_absence().empty()) GTEST_SKIP() << nccl_absence();
  }
};

TEST_P(MultiGpuRing, EqualsTheOracle) {
  const auto [transport, ranks, algorithm, sharding] = GetParam();
  const Gpus gpus(ranks);
  compare_with_oracle(*gpus.resources(ranks, transport), algorithm, sharding, 3);
}
INSTANTIATE_TEST_SUITE_P(Gpus, MultiGpuRing,
                         testing::Combine(testing::Values(TransportKind::peer, TransportKind::nccl),
                                          testing::Values(2, 4), testing::ValuesIn(kRingAlgorithms),
                                          testing::ValuesIn(kShardings)));

}  // namespace
}  // namespace hilbench
