#include "kernels/ring/transport/peer.hpp"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include "kernels/cuda/runtime/status.hpp"
#include "kernels/machine/gpu.hpp"
#include "tests/kernels/ring/transport/arrivals.hpp"
#include "tests/kernels/ring/transport/gpu_exercise.hpp"
#include "tests/kernels/ring/transport/run_ranks.hpp"

namespace hilbench {
namespace {

constexpr double kPatience_s = 60;

// Runs each rank's part over `peer`, on the GPUs in turn; returns what each threw, "" for nothing.
std::vector<std::string> run_peers(int ranks, double timeout_s, const std::function<void(Transport&)>& part,
                                   EmulatedLink link = {}) {
  int gpus = 0;
  HILBENCH_CUDA(cudaGetDeviceCount(&gpus));
  std::vector<int> devices;
  for (int rank = 0; rank < ranks; ++rank) devices.push_back(rank % gpus);
  const std::vector<std::unique_ptr<Transport>> transports = peer_transports(devices, timeout_s, link);
  return run_ranks(ranks, [&](int rank) {
    HILBENCH_CUDA(cudaSetDevice(devices[rank]));
    part(*transports[rank]);
    HILBENCH_CUDA(cudaDeviceSynchronize());
  });
}

class Peer : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string absence = survey_gpus().absence; !absence.empty()) GTEST_SKIP() << absence;
  }
};
class PeerRanks : public Peer, public testing::WithParamInterface<int> {};

TEST_P(PeerRanks, ExchangeRandomMessages) {
  for (unsigned seed = 0; seed < 4; ++seed)
    expect_no_errors(run_peers(GetParam(), kPatience_s, [&](Transport& transport) {
      exercise_exchanges<GpuMemory>(transport, 12, 1 + static_cast<int>(seed), seed);
    }));
}

// Groups of one or two ranks: of a ring, some messages or all cross the link.
TEST_P(PeerRanks, CrossAnEmulatedLink) {
  for (const int group_size : {1, 2}) {
    const EmulatedLink link{.group_size = group_size};
    expect_no_errors(run_peers(
        GetParam(), kPatience_s,
        [&](Transport& transport) {
          exercise_exchanges<GpuMemory>(transport, 12, 3, static_cast<unsigned>(group_size));
          exercise_long_messages<GpuMemory>(transport, kLinkChunkBytes);
          exercise_stream_order(transport);
        },
        link));
  }
}

TEST_P(PeerRanks, TellOfArrivals) {
  for (const EmulatedLink link : {EmulatedLink{}, EmulatedLink{.group_size = 1}})
    expect_no_errors(run_peers(GetParam(), kPatience_s, exercise_arrivals<GpuMemory>, link));
}

TEST_P(PeerRanks, ExchangeLines) {
  for (const Transport::Mover mover : {Transport::Mover::engines, Transport::Mover::kernel})
    expect_no_errors(run_peers(GetParam(), kPatience_s,
                               [&](Transport& transport) { exercise_lines<GpuMemory>(transport, mover); }));
}

TEST_P(PeerRanks, Gather) {
  expect_no_errors(run_peers(GetParam(), kPatience_s, exercise_gather));
}

TEST_P(PeerRanks, KeepTheOrderOfStream0) {
  for (const std::size_t lines : {1, 1024})
    expect_no_errors(run_peers(GetParam(), kPatience_s,
                               [&](Transport& transport) { exercise_stream_order(transport, lines); }));
}

INSTANTIATE_TEST_SUITE_P(Sizes, PeerRanks, testing::Values(1, 2, 3, 4, 8), testing::PrintToStringParamName());

// The computation takes every multiprocessor until its end, and still the exchange is done by then.
TEST_F(Peer, CopyEnginesTakeNothingFromAComputation) {
  int gpus = 0;
  HILBENCH_CUDA(cudaGetDeviceCount(&gpus));
  if (gpus < 2) GTEST_SKIP() << "one GPU here";
  expect_no_errors(run_peers(gpus, kPatience_s, [](Transport& transport) {
    constexpr std::size_t kBytes = 64 << 20;
    const Overlap times = overlap(transport, kBytes, 1);
    print("peer", transport, times, kBytes);
    EXPECT_GT(times.hidden(), 0.9);
  }));
}

TEST_F(Peer, ARankThatNeverComesIsNamed) {
  const std::vector<std::string> errors = run_peers(2, 0.3, [](Transport& transport) {
    const Words words(1000);
    if (transport.rank() == 1) return;
    Neighbours(transport).post(transport, words.data(), words.data(), 4000);
    transport.wait();
  });
  EXPECT_EQ(errors[0], "rank 0 waited 0.3 s for rank 1 to receive 4000 bytes");
}

TEST_F(Peer, AnAbortEndsTheRing) {
  const std::vector<std::string> errors = run_peers(3, kPatience_s, [](Transport& transport) {
    const Words sent(1 << 20), received(1 << 20);
    cuda::hold(kLongCycles, nullptr);
    Neighbours(transport).post(transport, sent.data(), received.data(), sent.size() * sizeof(int));
    if (transport.rank() == 1) transport.abort("rank 1 cannot allocate");
    transport.wait();
    transport.barrier();
  });
  for (const std::string& error : errors) EXPECT_EQ(error, "rank 1 cannot allocate");
}

}  // namespace
}  // namespace hilbench
