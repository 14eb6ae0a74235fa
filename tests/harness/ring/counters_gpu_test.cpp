// Counters of rings whose ranks share a GPU: one rank counts the work of all.
#include "tests/harness/ring/tasks.hpp"

namespace hilbench {
namespace {

const std::vector<RingAlgorithm> kAlgorithms = {RingAlgorithm::allgather, RingAlgorithm::ring,
                                                RingAlgorithm::ring_packed};

class SharedGpu : public testing::Test {
 protected:
  void SetUp() override {
    const CounterTarget target = counter_target(DeviceKind::cuda);
    if (target < 80) GTEST_SKIP() << "needs a CUDA device of compute capability 8.0 or up";
  }
};

TEST_F(SharedGpu, TheWorkOfAllRanksIsCounted) {
  const RingTaskShape two = {.ranks = 2};
  const auto alone = measure_rings({.ranks = 1}, {RingAlgorithm::automatic}, {"pipes"});
  const double instructions = counted(alone.begin()->second, "instructions");
  const auto rings = measure_rings(two, kAlgorithms, {"pipes", "default"});
  ASSERT_EQ(rings.size(), kAlgorithms.size());
  for (const auto& [id, record] : rings) {
    EXPECT_EQ(record.status, Status::ok) << id << ": " << record.reason;
    // The same number of pairs as on one rank. The work of one of two ranks would be half.
    EXPECT_GT(counted(record, "instructions"), 0.8 * instructions) << id;
    EXPECT_LT(counted(record, "instructions"), 1.6 * instructions) << id;
    EXPECT_GT(counted(record, "l2_read_requests"), 0) << id;
    EXPECT_GT(counted(record, "dram_read_bytes") + counted(record, "dram_write_bytes"), 0) << id;
    EXPECT_GT(counted(record, "tensor_pipe_use"), 0) << id;
    EXPECT_EQ(record.counters.at("dram_read_bytes").source, "cupti_range") << id;
    EXPECT_FALSE(record.counters.at("gpu_time").value) << id << ": the ranks wait for each other";
  }
}

// All tensors and buffers together fit into L2.
TEST_F(SharedGpu, AColdCacheIsColdForAllRanks) {
  constexpr std::int64_t kPositions = 1024, kDilation = 4;
  const auto reads = [](CacheState cache) {
    const RingTaskShape shape = {
        .sequence_length = kPositions, .pattern = {{kPositions, kDilation}}, .cache = cache};
    const Record record = measure_rings(shape, {RingAlgorithm::ring}, {"default"}).begin()->second;
    EXPECT_EQ(record.status, Status::ok) << record.reason;
    return counted(record, "dram_read_bytes");
  };
  const double rows = 3.0 * kPositions / kDilation * 8 * 128 * 2;  // bytes of Q, K and V that are read
  const double cold = reads(CacheState::cold);
  EXPECT_GT(cold, 0.9 * rows);
  EXPECT_LT(reads(CacheState::warm), 0.5 * cold);
}

TEST_F(SharedGpu, NothingGoesOverNvlink) {
  const Record record =
      measure_rings({.ranks = 2}, {RingAlgorithm::ring}, {"nvlink", "nvlink_packets"}).begin()->second;
  EXPECT_EQ(record.status, Status::ok) << record.reason;
  for (const auto& [name, counter] : record.counters)
    EXPECT_NE(counter.value.has_value(), !counter.reason.empty()) << name;
  const Counter& received = record.counters.at("nvlink_received_data_bytes");
  if (!received.value) GTEST_SKIP() << received.reason;
  if (received.ranks.size() > 1) GTEST_SKIP() << "the ranks have a GPU each";
  EXPECT_LT(*received.value, 0.01 * *record.comm_bytes);
}

}  // namespace
}  // namespace hilbench
