// Counters of rings with one GPU per rank: all GPUs count the same executions, and the links carry the bytes
// that the transport counts.
#include "kernels/machine/gpu.hpp"
#include "kernels/ring/transport/nccl.hpp"
#include "tests/harness/ring/tasks.hpp"

namespace hilbench {
namespace {

class RingOfGpus : public testing::TestWithParam<TransportKind> {
 protected:
  void SetUp() override {
    if (survey_gpus().gpus.size() < 2) GTEST_SKIP() << "2 GPUs are needed";
    if (GetParam() == TransportKind::nccl && !nccl_absence().empty()) GTEST_SKIP() << nccl_absence();
    if (counter_target(DeviceKind::cuda) < 80)
      GTEST_SKIP() << "needs CUDA devices of compute capability 8.0 or up";
  }
};

// NCCL adds its own flags to the data.
TEST_P(RingOfGpus, NvlinkCarriesTheCountedBytes) {
  const RingTaskShape shape = {
      .ranks = 2, .sequence_length = 32768, .pattern = {{32768, 4}}, .transport = GetParam()};
  const double most = GetParam() == TransportKind::nccl ? 1.05 : 1.02;
  const auto rings =
      measure_rings(shape, {RingAlgorithm::ring, RingAlgorithm::ring_packed}, {"nvlink", "nvlink_packets"});
  ASSERT_EQ(rings.size(), 2u);
  for (const auto& [id, record] : rings) {
    ASSERT_EQ(record.status, Status::ok) << id << ": " << record.reason;
    EXPECT_GT(counted(record, "nvlink_data_per_ring_byte"), 0.98) << id;
    EXPECT_LT(counted(record, "nvlink_data_per_ring_byte"), most) << id;
    EXPECT_NEAR(counted(record, "nvlink_sent_data_bytes"), counted(record, "nvlink_received_data_bytes"),
                0.02 * *record.comm_bytes)
        << id;
    EXPECT_GE(counted(record, "nvlink_bytes_per_ring_byte"), counted(record, "nvlink_data_per_ring_byte"));
    const Counter& packets = record.counters.at("nvlink_packet_data_per_ring_byte");
    EXPECT_NE(packets.value.has_value(), !packets.reason.empty()) << id;
    EXPECT_NEAR(packets.value.value_or(1), 1, most - 1) << id << ", where CUPTI may count the links";
    const std::vector<double>& ranks = record.counters.at("nvlink_received_data_bytes").ranks;
    ASSERT_EQ(ranks.size(), 2u) << id;
    for (const double bytes : ranks)
      EXPECT_NEAR(bytes, *record.comm_bytes / 2, 0.05 * *record.comm_bytes) << id;
  }
}

TEST_P(RingOfGpus, EveryGpuCountsItsOwnWork) {
  const auto alone = measure_rings({.ranks = 1}, {RingAlgorithm::automatic}, {"pipes"});
  const double instructions = counted(alone.begin()->second, "instructions");
  const auto rings = measure_rings({.ranks = 2, .transport = GetParam()},
                                   {RingAlgorithm::allgather, RingAlgorithm::ring}, {"pipes", "default"});
  ASSERT_EQ(rings.size(), 2u);
  for (const auto& [id, record] : rings) {
    ASSERT_EQ(record.status, Status::ok) << id << ": " << record.reason;
    for (const char* name : {"instructions", "l2_read_requests", "dram_read_bytes", "sm_active_cycles"}) {
      counted(record, name);
      EXPECT_EQ(record.counters.at(name).ranks.size(), 2u) << id << " " << name;
    }
    if (GetParam() == TransportKind::nccl) continue;  // its kernels poll
    const std::vector<double>& ranks = record.counters.at("instructions").ranks;
    for (const double own : ranks) {
      EXPECT_GT(own, 0.4 * instructions) << id;
      EXPECT_LT(own, 0.8 * instructions) << id;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Transports, RingOfGpus, testing::Values(TransportKind::peer, TransportKind::nccl));

}  // namespace
}  // namespace hilbench
