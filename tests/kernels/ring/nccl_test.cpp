#include "kernels/ring/nccl.hpp"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "kernels/cuda/device_memory.hpp"
#include "kernels/cuda/event.hpp"
#include "kernels/cuda/hold.hpp"
#include "kernels/ring/threads.hpp"
#include "tests/kernels/ring/busy.hpp"
#include "tests/kernels/ring/run_ranks.hpp"
#include "tests/kernels/ring/transport_exercise.hpp"

namespace hilbench {
namespace {

constexpr double kPatience_s = 60;
constexpr std::int64_t kLongCycles = 40'000'000;  // about 20 ms

struct GpuMemory {
  static void* allocate(std::size_t bytes) {
    void* data = nullptr;
    HILBENCH_CUDA(cudaMalloc(&data, bytes));
    return data;
  }
  static void free(void* data) { HILBENCH_CUDA(cudaFree(data)); }
  static void write(void* to, const std::vector<unsigned char>& from) {
    HILBENCH_CUDA(cudaMemcpyAsync(to, from.data(), from.size(), cudaMemcpyHostToDevice, nullptr));
  }
  static std::vector<unsigned char> read(const void* from, std::size_t bytes) {
    std::vector<unsigned char> values(bytes);
    HILBENCH_CUDA(cudaMemcpy(values.data(), from, bytes, cudaMemcpyDeviceToHost));
    return values;
  }
};

// Each rank's part, on a GPU of its own, of a ring over NCCL; what each threw, "" where nothing.
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

TEST_P(NcclRanks, Gather) {
  expect_no_errors(run_gpus(ranks(), kPatience_s, exercise_gather));
}

// Sends to the next, receives from the one before.
struct Neighbours {
  explicit Neighbours(const Transport& transport)
      : next((transport.rank() + 1) % transport.size()),
        previous((transport.rank() + transport.size() - 1) % transport.size()) {}
  void post(Transport& transport, void* from, void* to, std::size_t bytes) const {
    const Transport::Message sends[] = {{next, from, bytes}}, receives[] = {{previous, to, bytes}};
    transport.post(sends, receives);
  }
  int next, previous;
};

using Words = cuda::DeviceMemory<int>;
void copy(const Words& to, const Words& from) {
  HILBENCH_CUDA(
      cudaMemcpyAsync(to.data(), from.data(), to.size() * sizeof(int), cudaMemcpyDeviceToDevice, nullptr));
}
std::vector<int> values_of(const Words& words) {
  std::vector<int> values(words.size());
  HILBENCH_CUDA(cudaMemcpy(values.data(), words.data(), values.size() * sizeof(int), cudaMemcpyDeviceToHost));
  return values;
}

// Stream 0 writes late what is sent, reads late what the receive overwrites, and reads at once what it
// received.
TEST_P(NcclRanks, KeepTheOrderOfStream0) {
  constexpr std::size_t kCount = 4 << 20;
  expect_no_errors(run_gpus(ranks(), kPatience_s, [&](Transport& transport) {
    const Neighbours neighbours(transport);
    const std::vector<int> mine(kCount, 100 + transport.rank()), old(kCount, -1), poison(kCount, -2);
    const Words source(mine), sent(poison), received(old), before(poison), after(poison);
    for (int round = 0; round < 3; ++round) {
      // Ranks are late in turn.
      if (round == transport.rank() % 3) cuda::hold(kLongCycles, nullptr);
      copy(sent, source);
      copy(before, received);
      neighbours.post(transport, sent.data(), received.data(), kCount * sizeof(int));
      transport.wait();
      copy(after, received);
      copy(sent, before);  // what was sent may change now
      const std::vector<int> wanted(kCount, 100 + neighbours.previous);
      EXPECT_EQ(values_of(before), round == 0 ? old : wanted) << round;
      EXPECT_EQ(values_of(after), wanted) << round;
    }
  }));
}

// Blocks that leave no room beside them on any multiprocessor, enqueued after the exchange, do not keep it
// from running: it takes some multiprocessors first, and the blocks go on with the others.
TEST_P(NcclRings, MoveDataBesideAComputation) {
  constexpr std::size_t kCount = 32 << 20;
  expect_no_errors(run_gpus(ranks(), kPatience_s, [&](Transport& transport) {
    const Neighbours neighbours(transport);
    const Words sent(std::vector<int>(kCount, transport.rank())), received(kCount);
    const auto run_ns = [&](bool exchange, std::int64_t cycles, int waves) {
      cuda::Event begin, end;
      double best_ns = 0;
      for (int round = 0; round < 5; ++round) {
        transport.barrier();
        cuda::hold(2'000'000, nullptr);  // what follows is all enqueued by then
        begin.record();
        if (exchange) neighbours.post(transport, sent.data(), received.data(), kCount * sizeof(int));
        if (cycles > 0) cuda::occupy_every_sm(cycles, waves, nullptr);
        if (exchange) transport.wait();
        end.record();
        const double ns = end.ns_since(begin);
        best_ns = round == 0 ? ns : std::min(best_ns, ns);
      }
      return best_ns;
    };
    const double exchange_ns = run_ns(true, 0, 0);
    const auto cycles = static_cast<std::int64_t>(2 * exchange_ns * 1.9);
    for (const int waves : {1, 16}) {
      const double compute_ns = run_ns(false, cycles, waves), both_ns = run_ns(true, cycles, waves);
      const double hidden = (exchange_ns + compute_ns - both_ns) / exchange_ns;
      if (transport.rank() == 0)
        std::printf("%d waves: exchange %.0f us, computation %.0f us, both %.0f us: hidden %.2f, %.0f GB/s\n",
                    waves, exchange_ns / 1e3, compute_ns / 1e3, both_ns / 1e3, hidden,
                    4.0 * kCount / exchange_ns);
      if (waves > 1) {
        EXPECT_GT(hidden, 0.5);
      }
    }
  }));
}

TEST_P(NcclRings, ARankThatNeverComesIsNamed) {
  const std::vector<std::string> errors = run_gpus(ranks(), 1, [&](Transport& transport) {
    const Words words(1000);
    if (transport.rank() != 1) Neighbours(transport).post(transport, words.data(), words.data(), 4000);
    transport.barrier();
  });
  for (const std::string& error : errors)
    EXPECT_TRUE(error.ends_with("to take part in an exchange") && error.find("rank 1") != std::string::npos)
        << error;
}

// As above, where the GPUs are connected: now it is NCCL's kernel that waits.
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
