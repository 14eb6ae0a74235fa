// Copies by kernels out of the memory of other ranks, without attention: the protocol of
// kernels/index/shard_copies.hpp on GPUs. Ranks share GPUs if there are fewer GPUs than ranks.
#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kernels/cuda/runtime/event.hpp"
#include "kernels/ring/launch_copies.hpp"
#include "kernels/ring/shard_chunks.hpp"
#include "kernels/ring/transport/peer.hpp"
#include "tests/kernels/ring/transport/run_ranks.hpp"

namespace hilbench {
namespace {

int gpu_count() {
  int gpus = 0;
  return cudaGetDeviceCount(&gpus) == cudaSuccess ? gpus : 0;
}

Ring ring_of(int ranks, std::int64_t length, RingAlgorithm algorithm) {
  const Case work{.sequence_length = length,
                  .pattern = {{length, 1}},
                  .heads = 6,
                  .kv_heads = 6,
                  .head_dim = 128,
                  .dtype = Dtype::bf16,
                  .ring_size = ranks,
                  .device = DeviceKind::cuda};
  Variant variant{.kernel = "dilated"};
  variant.ring_algorithm = algorithm;
  variant.ring_launch = RingLaunch::persistent;
  return Ring(work, variant);
}

// K, V and received shards of a rank on its GPU. Each execution every byte of a rank's rows has one value.
class RankRows {
 public:
  RankRows(const Ring& ring, int rank, RingDevice& device)
      : ring_(ring),
        row_(static_cast<std::size_t>(ring.work().kv_heads * ring.work().head_dim) * 2),
        own_(static_cast<std::size_t>(ring.kv_rows(rank)) * row_),
        room_(static_cast<std::size_t>(ring.longest_sent_rows()) * row_) {
    const std::size_t received = room_ * ring.buffer_rows(rank).size();
    for (std::size_t i = 0; i < 2; ++i) {
      memory_[i] = device.allocate(own_);
      memory_[2 + i] = device.allocate(std::max<std::size_t>(received, 1));
    }
    arrived_ = device.allocate(ring.buffer_rows(rank).size() * sizeof(std::uint32_t) + 4);
  }
  static int value(std::int64_t rank, int execution) { return static_cast<int>(rank * 16 + execution) % 251; }
  // On stream 0, without waiting for it.
  void fill(int value) {
    for (std::size_t i = 0; i < 2; ++i)
      HILBENCH_CUDA(cudaMemsetAsync(memory_[i].get(), value, own_, nullptr));
  }
  LaunchCopies::Memory memory() const {
    return {memory_[0].get(), memory_[1].get(), memory_[2].get(), memory_[3].get(),
            static_cast<std::uint32_t*>(arrived_.get())};
  }
  void expect_received(int rank, int execution) const {
    for (const RingStep& step : ring_.steps(rank))
      for (const ShardMove& receive : step.receives)
        for (std::size_t i = 2; i < 4; ++i) {
          std::vector<unsigned char> rows(static_cast<std::size_t>(ring_.sent_rows(receive.source)) * row_);
          HILBENCH_CUDA(cudaMemcpy(rows.data(),
                                   static_cast<const std::byte*>(memory_[i].get()) +
                                       static_cast<std::size_t>(receive.buffer) * room_,
                                   rows.size(), cudaMemcpyDeviceToHost));
          const int wanted = value(receive.source, execution);
          EXPECT_EQ(std::count(rows.begin(), rows.end(), wanted), std::ssize(rows))
              << "rank " << rank << " of rank " << receive.source << " in execution " << execution;
        }
  }
  double received_bytes(int rank) const {
    return 2 * static_cast<double>(room_ * ring_.buffer_rows(rank).size());
  }

 private:
  const Ring& ring_;
  std::size_t row_, own_, room_;
  std::shared_ptr<void> memory_[4], arrived_;
};

// Runs each rank's part over `peer` if launches of the ring can copy; returns false if they cannot here.
bool run_copies(const Ring& ring, double timeout_s,
                const std::function<void(int, Transport&, RingDevice&)>& part,
                std::vector<std::string>& errors) {
  const auto ranks = static_cast<int>(ring.ranks());
  std::vector<int> devices;
  for (int rank = 0; rank < ranks; ++rank) devices.push_back(rank % gpu_count());
  const auto transports = peer_transports(devices, timeout_s);
  if (!copies_in_launch(ring, transports.front()->reach())) return false;
  errors = run_ranks(ranks, [&](int rank) {
    HILBENCH_CUDA(cudaSetDevice(devices[static_cast<std::size_t>(rank)]));
    const auto device = cuda_ring_device();
    part(rank, *transports[static_cast<std::size_t>(rank)], *device);
    HILBENCH_CUDA(cudaDeviceSynchronize());
  });
  return true;
}

class LaunchCopiesOnGpus : public testing::TestWithParam<std::tuple<int, RingAlgorithm>> {};

// A rank's stream writes to its rows as soon as it has passed end(), without the host. Every other rank has
// the rows of the execution.
TEST_P(LaunchCopiesOnGpus, LetRowsChangeOnlyAfterAllHaveRead) {
  const auto [ranks, algorithm] = GetParam();
  if (gpu_count() == 0) GTEST_SKIP() << "no GPU here";
  const Ring ring = ring_of(ranks, 2003, algorithm);
  const ShardChunks chunks = shard_chunks(ring, ChunkShape::heads, {.least_line_bytes = 1, .least_bytes = 1});
  std::vector<std::string> errors;
  const bool ran = run_copies(
      ring, 20,
      [&](int rank, Transport& transport, RingDevice& device) {
        RankRows rows(ring, rank, device);
        const auto gave_up = device.host_words(2);
        LaunchCopies copies(ring, chunks, device, transport, gave_up.get());
        for (int execution = 1; execution <= 30; ++execution) {
          rows.fill(RankRows::value(rank, execution));
          const ShardCopies made = copies.begin(rows.memory());
          transport.access([&] { device.copy_shards(made); });
          copies.end();
          rows.fill(255);
          device.synchronize();
          rows.expect_received(rank, execution);
        }
        EXPECT_EQ(gave_up.get()[kMissedKeys], 0u);
        EXPECT_EQ(gave_up.get()[kMissedReader], 0u);
      },
      errors);
  if (!ran) GTEST_SKIP() << "ranks that pass shards on need a GPU each, which reach each other's memory";
  expect_no_errors(errors);
}
INSTANTIATE_TEST_SUITE_P(Rings, LaunchCopiesOnGpus,
                         testing::Combine(testing::Values(2, 3, 4, 8),
                                          testing::Values(RingAlgorithm::ring, RingAlgorithm::allgather)));

// 48 MiB of K and as much of V from each rank, in chunks as a sweep has them, by more and fewer warps than
// launches use.
void print_rates(const Ring& ring, std::uint32_t copiers) {
  const ShardChunks chunks = shard_chunks(ring, ChunkShape::heads);
  std::vector<std::string> errors;
  run_copies(
      ring, 20,
      [&](int rank, Transport& transport, RingDevice& device) {
        RankRows rows(ring, rank, device);
        const auto gave_up = device.host_words(2);
        LaunchCopies copies(ring, chunks, device, transport, gave_up.get());
        cuda::Event begin, end;
        double ns = 0;
        for (int execution = 1; execution <= 4; ++execution) {
          rows.fill(RankRows::value(rank, execution));
          ShardCopies made = copies.begin(rows.memory());
          made.copiers = copiers;
          transport.access([&] {
            begin.record();
            device.copy_shards(made);
            end.record();
          });
          copies.end();
          device.synchronize();
          rows.expect_received(rank, execution);
          if (execution == 1 || end.ns_since(begin) < ns) ns = end.ns_since(begin);
        }
        if (rank == 0)
          fmt::print("{} of {}, {} warps: rank 0 received {:.0f} MB at up to {:.1f} GB/s\n",
                     to_string(ring.variant().ring_algorithm), ring.ranks(), copiers,
                     rows.received_bytes(rank) / 1e6, rows.received_bytes(rank) / ns);
      },
      errors);
  expect_no_errors(errors);
}

TEST(LaunchCopiesRate, IsPrinted) {
  if (gpu_count() == 0) GTEST_SKIP() << "no GPU here";
  const int ranks = std::clamp(gpu_count(), 2, 8);
  for (const RingAlgorithm algorithm : {RingAlgorithm::ring, RingAlgorithm::allgather})
    for (const std::uint32_t copiers : {96, 192, 384, 768})
      print_rates(ring_of(ranks, ranks * 32768, algorithm), copiers);
}

}  // namespace
}  // namespace hilbench
