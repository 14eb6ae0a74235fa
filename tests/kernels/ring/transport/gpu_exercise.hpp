// What every transport between GPUs must do, as one rank's part of it.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "kernels/cuda/runtime/blocking_kernel.hpp"
#include "kernels/cuda/runtime/device_memory.hpp"
#include "kernels/cuda/runtime/event.hpp"
#include "tests/kernels/ring/transport/busy.hpp"
#include "tests/kernels/ring/transport/exercise.hpp"

namespace hilbench {

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

// Sends to the next rank, receives from the one before.
struct Neighbours {
  explicit Neighbours(const Transport& transport)
      : next((transport.rank() + 1) % transport.size()),
        previous((transport.rank() + transport.size() - 1) % transport.size()) {}
  // A kernel moves what has several lines.
  void post(Transport& transport, void* from, void* to, std::size_t bytes, std::size_t lines = 1) const {
    Transport::Message sent{next, from, bytes}, received{previous, to, bytes};
    for (Transport::Message* const message : {&sent, &received})
      if (lines > 1) message->lines = lines, message->step = bytes / lines;
    transport.post({&sent, 1}, {&received, 1}, Transport::After::stream,
                   lines > 1 ? Transport::Mover::kernel : Transport::Mover::engines);
  }
  int next, previous;
};

using Words = cuda::DeviceMemory<int>;
inline void copy(const Words& to, const Words& from) {
  HILBENCH_CUDA(
      cudaMemcpyAsync(to.data(), from.data(), to.size() * sizeof(int), cudaMemcpyDeviceToDevice, nullptr));
}
inline std::vector<int> values_of(const Words& words) {
  std::vector<int> values(words.size());
  HILBENCH_CUDA(cudaMemcpy(values.data(), words.data(), values.size() * sizeof(int), cudaMemcpyDeviceToHost));
  return values;
}

// Stream 0 is late to write what is sent and to read what the receive overwrites, and reads at
// once what was received.
inline void exercise_stream_order(Transport& transport, std::size_t lines = 1) {
  constexpr std::size_t kCount = 4 << 20;
  const Neighbours neighbours(transport);
  const std::vector<int> mine(kCount, 100 + transport.rank()), old(kCount, -1), poison(kCount, -2);
  const Words source(mine), sent(poison), received(old), before(poison), after(poison);
  for (int round = 0; round < 4; ++round) {
    if (round == transport.rank() % 3) cuda::hold(kLongCycles, nullptr);  // ranks are late in turn
    copy(sent, source);
    copy(before, received);
    neighbours.post(transport, sent.data(), received.data(), kCount * sizeof(int), lines);
    transport.wait();
    copy(after, received);
    copy(sent, before);  // the sent data may change now
    const std::vector<int> wanted(kCount, 100 + neighbours.previous);
    EXPECT_EQ(values_of(before), round == 0 ? old : wanted) << round;
    EXPECT_EQ(values_of(after), wanted) << round;
  }
}

// Times of an exchange with the neighbours, of blocks that fill every multiprocessor and are enqueued after
// it, and of both together.
struct Overlap {
  double exchange_ns, computation_ns, both_ns;
  double hidden() const { return (exchange_ns + computation_ns - both_ns) / exchange_ns; }
};
inline Overlap overlap(Transport& transport, std::size_t bytes, int waves) {
  const Neighbours neighbours(transport);
  const Words sent(std::vector<int>(bytes / sizeof(int), transport.rank())), received(sent.size());
  const auto run_ns = [&](bool exchange, std::int64_t cycles) {
    cuda::Event begin, end;
    double best_ns = 0;
    for (int round = 0; round < 6; ++round) {
      transport.barrier();
      cuda::hold(2'000'000, nullptr);  // until then everything below is enqueued
      begin.record();
      if (exchange) neighbours.post(transport, sent.data(), received.data(), bytes);
      if (cycles > 0) cuda::occupy_every_sm(cycles, waves, nullptr);
      if (exchange) transport.wait();
      end.record();
      const double ns = end.ns_since(begin);
      best_ns = round <= 1 ? ns : std::min(best_ns, ns);  // the first round loads code and connects
    }
    return best_ns;
  };
  Overlap times{};
  times.exchange_ns = run_ns(true, 0);
  const auto cycles = static_cast<std::int64_t>(2 * times.exchange_ns * 1.9);
  times.computation_ns = run_ns(false, cycles);
  times.both_ns = run_ns(true, cycles);
  return times;
}

inline void print(const char* name, const Transport& transport, const Overlap& times, std::size_t bytes) {
  if (transport.rank() == 0)
    std::printf(
        "%s, %d ranks: exchange %.0f us (%.0f GB/s), computation %.0f us, both %.0f us: hidden %.2f\n", name,
        transport.size(), times.exchange_ns / 1e3, static_cast<double>(bytes) / times.exchange_ns,
        times.computation_ns / 1e3, times.both_ns / 1e3, times.hidden());
}

}  // namespace hilbench
