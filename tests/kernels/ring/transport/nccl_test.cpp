#include "kernels/ring/transport/nccl.hpp"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <chrono>

#include "kernels/cuda/runtime/status.hpp"
#include "kernels/ring/transport/threads.hpp"
#include "tests/kernels/ring/transport/arrivals.hpp"
#include "tests/kernels/ring/transport/gpu_exercise.hpp"
#include "tests/kernels/ring/transport/run_ranks.hpp"

namespace hilbench {
namespace {

constexpr double kPatience_s = 60;

// Runs each rank's part of a ring over NCCL on a GPU of its own; returns what each threw, "" for nothing.
std::vector<std::string> run_gpus(int ranks, double timeout_s, const std::function<void(Transport&)>& part) {
  std::vector<std::unique_ptr<Transport>> controls = thread_transports(ranks, kPatience_s);
  return run_ranks(ranks, [&](int rank) {
    HILBENCH_CUDA(cudaSetDevice(rank));
    const std::unique_ptr<Transport> transport = nccl_transport(std::move(controls[rank]), timeout_s);
    part(*transport);
    HILBENCH_CUDA(cudaDeviceSynchronize());
  });
}

class NcclRanks : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    int gpus = 0;
    if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus < GetParam()) GTEST_SKIP() << gpus << " GPUs here";
    ASSERT_EQ(nccl_absence(), "");
  }
  int ranks() const { return GetParam(); }
};
using NcclRings = NcclRanks;

TEST_P(NcclRanks, ExchangeRandomMessages) {
  for (unsigned seed = 0; seed < 3; ++seed)
    expect_no_errors(run_gpus(ranks(), kPatience_s, [&](Transport& transport) {
      exercise_exchanges<GpuMemory>(transport, 12, 1 + static_cast<int>(seed), seed);
    }));
}

TEST_P(NcclRanks, TellOfArrivals) {
  expect_no_errors(run_gpus(ranks(), kPatience_s, exercise_arrivals<GpuMemory>));
}

TEST_P(NcclRanks, Gather) {
  expect_no_errors(run_gpus(ranks(), kPatience_s, exercise_gather));
}

TEST_P(NcclRanks, KeepTheOrderOfStream0) {
  expect_no_errors(
      run_gpus(ranks(), kPatience_s, [](Transport& transport) { exercise_stream_order(transport); }));
}

// NCCL's blocks start on multiprocessors that the computation's blocks leave.
TEST_P(NcclRings, MoveDataBesideAComputation) {
  expect_no_errors(run_gpus(ranks(), kPatience_s, [](Transport& transport) {
    constexpr std::size_t kBytes = 64 << 20;
    const Overlap times = overlap(transport, kBytes, 16);
    print("nccl", transport, times, kBytes);
    EXPECT_GT(times.hidden(), 0.4);
  }));
}

// All others exchange with it alone: a rank that waited for some of those could be the first to give up.
TEST_P(NcclRings, ARankThatNeverComesIsNamed) {
  const std::vector<std::string> errors = run_gpus(ranks(), 1, [&](Transport& transport) {
    const Words sent(1000), received(1000);
    const Transport::Message send{1, sent.data(), 4000}, receive{1, received.data(), 4000};
    if (transport.rank() != 1) transport.post({&send, 1}, {&receive, 1});
    transport.barrier();
  });
  for (const std::string& error : errors)
    EXPECT_TRUE(error.ends_with("waited 1 s for rank 1 to take part in an exchange")) << error;
}

// As above, but the GPUs are connected already: now NCCL's kernel waits.
TEST_P(NcclRings, AKernelWhosePeerNeverComesEnds) {
  const auto begin = std::chrono::steady_clock::now();
  const std::vector<std::string> errors = run_gpus(ranks(), 1, [&](Transport& transport) {
    const Words sent(1 << 20), received(1 << 20);
    const Neighbours neighbours(transport);
    neighbours.post(transport, sent.data(), received.data(), sent.size() * sizeof(int));
    transport.wait();
    HILBENCH_CUDA(cudaDeviceSynchronize());
    transport.barrier();
    if (transport.rank() != 1) {
      neighbours.post(transport, sent.data(), received.data(), sent.size() * sizeof(int));
      transport.wait();
      HILBENCH_CUDA(cudaDeviceSynchronize());
    }
    transport.barrier();
  });
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(40));
  for (const std::string& error : errors)
    EXPECT_NE(error.find("for an exchange with rank"), std::string::npos) << error;
}

TEST_P(NcclRings, AbortEndsWhatRunsOnEveryGpu) {
  const std::vector<std::string> errors = run_gpus(ranks(), kPatience_s, [&](Transport& transport) {
    const Words sent(1 << 20), received(1 << 20);
    const Neighbours neighbours(transport);
    neighbours.post(transport, sent.data(), received.data(), sent.size() * sizeof(int));
    transport.wait();
    HILBENCH_CUDA(cudaDeviceSynchronize());
    if (transport.rank() == 1) {
      transport.abort("rank 1 cannot allocate");
    } else {
      neighbours.post(transport, sent.data(), received.data(), sent.size() * sizeof(int));
      transport.wait();
      HILBENCH_CUDA(cudaDeviceSynchronize());
    }
    transport.barrier();
  });
  for (const std::string& error : errors) EXPECT_EQ(error, "rank 1 cannot allocate");
}

INSTANTIATE_TEST_SUITE_P(Gpus, NcclRanks, testing::Values(1, 2, 4), testing::PrintToStringParamName());
INSTANTIATE_TEST_SUITE_P(SeveralGpus, NcclRings, testing::Values(2, 4), testing::PrintToStringParamName());

}  // namespace
}  // namespace hilbench
