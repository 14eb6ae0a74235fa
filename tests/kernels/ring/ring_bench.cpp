// Compares a ring of 4 ranks with one thread each to one rank with all threads, in turn, on the same work.
// Run by hand: prints the ratios of wall time and of CPU time, and the hidden share of the exchange.
#include <fmt/format.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <random>
#include <thread>

#include "kernels/cpu/dilated_cpu.hpp"
#include "kernels/ring/ring_execution.hpp"
#include "kernels/ring/ring_index.hpp"
#include "kernels/ring/transport/threads.hpp"
#include "tests/kernels/attention_problem.hpp"

namespace hilbench {
namespace {

constexpr int kRanks = 4, kCores = 2, kRounds = 9;
constexpr double kTimeoutS = 300;

struct Times {
  double wall_s = 0, cpu_s = 0;
};

double cpu_seconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <class Work>
Times timed(const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  const double cpu = cpu_seconds();
  work();
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(),
          cpu_seconds() - cpu};
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + std::ssize(values) / 2, values.end());
  return values[values.size() / 2];
}

// Tensors of `rows` rows, with values of N(0, 1).
struct Tensors {
  Bytes q, k, v, o;
  std::vector<float> lse;

  Tensors(const Case& work, std::int64_t rows, std::uint64_t seed) {
    Random random(seed);
    const auto tensor = [&](std::int64_t heads) {
      std::normal_distribution<float> normal;
      std::vector<float> values(static_cast<std::size_t>(work.batch * rows * heads * work.head_dim));
      for (float& value : values) value = normal(random);
      Bytes bytes = hwy::AllocateAligned<std::byte>(values.size() * sizeof(float));
      narrow(work.dtype, values, bytes.get());
      return bytes;
    };
    q = tensor(work.heads);
    k = tensor(work.kv_heads);
    v = tensor(work.kv_heads);
    o = tensor(work.heads);
    lse.resize(static_cast<std::size_t>(work.batch * rows * work.heads));
  }
  Operands operands() { return {q.get(), k.get(), v.get(), o.get(), lse.data()}; }
};

// The ranks' threads, which run a part when asked.
class RingOfThreads {
 public:
  RingOfThreads(const Case& work, const Variant& variant)
      : ring_(work, variant), transports_(thread_transports(kRanks, kTimeoutS)), turn_(kRanks + 1) {
    for (int rank = 0; rank < kRanks; ++rank) threads_.emplace_back([this, rank] { serve(rank); });
    turn_.arrive_and_wait();
  }
  ~RingOfThreads() {
    over_ = true;
    turn_.arrive_and_wait();
  }

  void run(RingPart part) {
    part_ = part;
    turn_.arrive_and_wait();
    turn_.arrive_and_wait();
  }

 private:
  void serve(int rank) {
    Tensors tensors(ring_.work(), ring_.shards().count(rank), static_cast<std::uint64_t>(rank));
    const auto device = cpu_ring_device(1);
    RingExecution execution(ring_, kDilatedCpu, *device, *transports_[static_cast<std::size_t>(rank)], 1);
    turn_.arrive_and_wait();
    for (;;) {
      turn_.arrive_and_wait();
      if (over_) return;
      execution.run(tensors.operands(), part_);
      turn_.arrive_and_wait();
    }
  }

  Ring ring_;
  std::vector<std::unique_ptr<Transport>> transports_;
  std::barrier<> turn_;
  bool over_ = false;
  RingPart part_ = RingPart::all;
  std::vector<std::jthread> threads_;
};

void compare(std::string_view name, Case work, const Variant& variant) {
  work.ring_size = 1;
  Tensors tensors(work, work.sequence_length, 99);
  const auto alone = kDilatedCpu.prepare(work, variant.kernel(), kCores);
  const Index index = build_index(work, variant.kernel(), kDilatedCpu.tile_rows(work));
  work.ring_size = kRanks;
  RingOfThreads ring(work, variant);
  std::vector<double> wall, cpu, one_s, total, computation, exchange;
  for (int round = -1; round < kRounds; ++round) {
    const Times one = timed([&] { alone->run(tensors.operands(), index); });
    const Times all = timed([&] { ring.run(RingPart::all); });
    const Times compute = timed([&] { ring.run(RingPart::computation); });
    const Times move = timed([&] { ring.run(RingPart::exchange); });
    if (round < 0) continue;
    one_s.push_back(one.wall_s);
    wall.push_back(all.wall_s / one.wall_s);
    cpu.push_back(all.cpu_s / one.cpu_s);
    total.push_back(all.wall_s);
    computation.push_back(compute.wall_s);
    exchange.push_back(move.wall_s);
  }
  fmt::print(
      "{:<44} one rank {:7.1f} ms; 4 ranks / one rank: wall {:.3f}, CPU {:.3f}; exchange {:6.2f} ms, "
      "hidden {:.2f}\n",
      name, 1e3 * median(one_s), median(wall), median(cpu), 1e3 * median(exchange),
      hidden_share(median(computation), median(exchange), median(total)));
}

}  // namespace
}  // namespace hilbench

int main() {
  using namespace hilbench;
  const auto variant = [](RingAlgorithm algorithm, Sharding sharding) {
    Variant made{KernelChoice{.name = "dilated_cpu"}};
    made.ring.algorithm = algorithm;
    made.ring.sharding = sharding;
    return made;
  };
  Case dense{.sequence_length = 8192, .pattern = {{8192, 1}}, .heads = 1, .kv_heads = 1};
  compare("dense ring", dense, variant(RingAlgorithm::ring, Sharding::contiguous));
  compare("dense allgather", dense, variant(RingAlgorithm::allgather, Sharding::contiguous));
  dense.dtype = Dtype::bf16;
  compare("dense bf16 ring", dense, variant(RingAlgorithm::ring, Sharding::contiguous));
  Case causal = dense;
  causal.dtype = Dtype::fp32;
  causal.mask = Mask::causal;
  compare("causal ring zigzag", causal, variant(RingAlgorithm::ring, Sharding::zigzag));
  compare("causal ring striped", causal, variant(RingAlgorithm::ring, Sharding::striped));
  compare("causal ring contiguous", causal, variant(RingAlgorithm::ring, Sharding::contiguous));
  const Case dilated{.sequence_length = 8192, .pattern = {{8192, 4}}, .heads = 4, .kv_heads = 4};
  compare("dilated 4 ring", dilated, variant(RingAlgorithm::ring, Sharding::contiguous));
  compare("dilated 4 ring_packed", dilated, variant(RingAlgorithm::ring_packed, Sharding::contiguous));
  compare("dilated 4 allgather_packed", dilated,
          variant(RingAlgorithm::allgather_packed, Sharding::contiguous));
  const Case mixed{
      .sequence_length = 8192, .pattern = {{1024, 1}, {4096, 2}, {8192, 8}}, .heads = 4, .kv_heads = 4};
  compare("1024:1 4096:2 8192:8 ring", mixed, variant(RingAlgorithm::ring, Sharding::contiguous));
  compare("1024:1 4096:2 8192:8 ring_packed", mixed,
          variant(RingAlgorithm::ring_packed, Sharding::contiguous));
}
