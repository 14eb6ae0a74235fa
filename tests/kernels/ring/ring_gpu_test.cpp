// Rings whose ranks share one GPU: every kernel, algorithm and sharding.
#include <cuda_runtime_api.h>

#include <chrono>

#include "kernels/cuda/runtime/status.hpp"
#include "kernels/ring/pack.hpp"
#include "tests/kernels/ring/ring_gpus.hpp"

namespace hilbench {
namespace {

class GpuRing : public testing::TestWithParam<std::tuple<RingAlgorithm, Sharding>> {
 protected:
  void SetUp() override {
    if (!survey().absence.empty()) GTEST_SKIP() << survey().absence;
  }
};

TEST_P(GpuRing, OnOneGpuEqualsTheOracle) {
  const auto [algorithm, sharding] = GetParam();
  const Gpus gpus(1);
  for (const int ranks : {1, 2, 3, 4})
    compare_with_oracle(*gpus.resources(ranks, TransportKind::peer), algorithm, sharding, 3);
}
INSTANTIATE_TEST_SUITE_P(All, GpuRing,
                         testing::Combine(testing::ValuesIn(kRingAlgorithms), testing::ValuesIn(kShardings)));

// Several tiles and blocks of keys per piece.
TEST(GpuRingLonger, EqualsTheOracle) {
  if (!survey().absence.empty()) GTEST_SKIP() << survey().absence;
  const Gpus gpus(1);
  Random random(3);
  for (const RingAlgorithm algorithm : kRingAlgorithms)
    for (const Sharding sharding : kShardings)
      for (const Mask mask : {Mask::full, Mask::causal}) {
        const Case work{.sequence_length = 4111,
                        .pattern = {{1400, 1}, {4111, 4}},
                        .heads = 8,
                        .kv_heads = 4,
                        .head_dim = 128,
                        .dtype = Dtype::bf16,
                        .mask = mask,
                        .ring_size = 4,
                        .device = DeviceKind::cuda};
        Variant variant{KernelChoice{.name = "dilated"}};
        variant.ring.algorithm = algorithm;
        variant.ring.groups = 2;
        variant.ring.sharding = sharding;
        const AttentionProblem problem(work, random);
        const ExpectedRows expected(problem, sampled_rows(work, random, 24));
        for (const Implementation* kernel : kernels_for(work)) {
          SCOPED_TRACE(std::string(kernel->name) + " " + described(work, variant));
          const auto resources = gpus.resources(4, TransportKind::peer);
          EXPECT_EQ(expected.mismatch(work, run_rings({{problem, variant, *kernel}}, *resources, 1).front()),
                    "");
        }
      }
}

TEST(GpuRingDevice, PacksAsTheCpuDoes) {
  if (!survey().absence.empty()) GTEST_SKIP() << survey().absence;
  Random random(5);
  const auto device = open_cuda_device(0);
  for (int i = 0; i < 60; ++i) {
    const std::int64_t batch = between(random, 1, 3), from_rows = between(random, 1, 400);
    const std::int64_t head_bytes = 16 * between(random, 1, 40);
    PackedShard shard{.heads_first = between(random, 0, 1) == 1};
    shard.slots.resize(static_cast<std::size_t>(between(random, 1, 3)));
    for (auto& slots : shard.slots) {
      for (std::int64_t rows = between(random, 0, 300); rows > 0; --rows)
        slots.push_back(static_cast<std::int32_t>(between(random, 0, from_rows - 1)));
      shard.rows = std::max<std::int64_t>(shard.rows, std::ssize(slots));
    }
    for (std::int64_t head = between(random, 1, 5); head > 0; --head)
      shard.class_of_head.push_back(
          static_cast<std::int32_t>(between(random, 0, std::ssize(shard.slots) - 1)));
    const auto row_bytes = static_cast<std::size_t>(head_bytes) * shard.class_of_head.size();
    const auto to_bytes = static_cast<std::size_t>(batch * shard.rows) * row_bytes;
    if (to_bytes == 0) continue;
    const auto ring_device = cuda_ring_device();
    ring_device->load(shard);
    struct Tensor {
      std::vector<std::byte> expected;
      Buffer from, to;
    } k, v;
    for (Tensor* const tensor : {&k, &v}) {
      std::vector<std::byte> from(static_cast<std::size_t>(batch * from_rows) * row_bytes);
      for (std::byte& byte : from) byte = static_cast<std::byte>(random());
      tensor->expected.resize(to_bytes);
      pack_rows(from.data(), tensor->expected.data(), batch, from_rows, shard, head_bytes, 1);
      tensor->from = device->allocate(from.size());
      device->upload(from.data(), tensor->from);
      tensor->to = {.memory = ring_device->allocate(to_bytes), .bytes = to_bytes};
    }
    ring_device->pack({k.from.data(), v.from.data()}, {k.to.data(), v.to.data()}, batch, from_rows,
                      head_bytes);
    for (const Tensor* const tensor : {&k, &v}) {
      std::vector<std::byte> got(to_bytes);
      device->download(tensor->to, got.data());
      EXPECT_EQ(got, tensor->expected) << i << (tensor == &k ? " K" : " V");
    }
  }
}

TEST(GpuRingDevice, CopiesRowsAsTheCpuDoes) {
  if (!survey().absence.empty()) GTEST_SKIP() << survey().absence;
  Random random(6);
  const auto device = open_cuda_device(0);
  const auto ring_device = cuda_ring_device();
  for (int i = 0; i < 60; ++i) {
    const auto row = static_cast<std::size_t>(4 * between(random, 1, 200));
    const std::size_t from_step = row + static_cast<std::size_t>(4 * between(random, 0, 50));
    const std::size_t to_step = row + static_cast<std::size_t>(4 * between(random, 0, 50));
    const std::int64_t rows = between(random, 0, 300);
    std::vector<std::byte> from(static_cast<std::size_t>(rows + 1) * from_step);
    std::vector<std::byte> to(static_cast<std::size_t>(rows + 1) * to_step), got(to.size());
    for (std::byte& byte : from) byte = static_cast<std::byte>(random());
    cpu_ring_device(1)->copy_rows({from.data(), from_step}, {to.data(), to_step}, row, rows);
    Buffer source = device->allocate(from.size());
    device->upload(from.data(), source);
    const Buffer target{.memory = ring_device->allocate(to.size()), .bytes = to.size()};
    ring_device->copy_rows({static_cast<const std::byte*>(source.data()), from_step},
                           {static_cast<std::byte*>(target.data()), to_step}, row, rows);
    device->download(target, got.data());
    EXPECT_EQ(got, to) << i;
  }
}

// Compared with a copy of as many bytes.
TEST(GpuRingDevice, PacksAtTheRateOfACopy) {
  if (!survey().absence.empty()) GTEST_SKIP() << survey().absence;
  const auto device = open_cuda_device(0);
  constexpr std::int64_t kRows = 1 << 16, kHeads = 16, kHeadBytes = 256;
  constexpr std::size_t kBytes = kRows * kHeads * kHeadBytes;
  const Buffer k = device->allocate(kBytes), v = device->allocate(kBytes);
  const Buffer to_k = device->allocate(kBytes), to_v = device->allocate(kBytes);
  const auto rate = [&](std::size_t bytes, const std::function<void()>& move) {
    double best_ns = 1e18;
    for (int i = 0; i < 20; ++i) best_ns = std::min(best_ns, device->time_ns(move));
    return 2 * static_cast<double>(bytes) / best_ns;
  };
  for (const auto& [dilation, heads_first] : {std::pair{2, false}, {8, false}, {1, true}, {8, true}}) {
    PackedShard shard{.rows = kRows / dilation,
                      .heads_first = heads_first,
                      .slots = {{}},
                      .class_of_head = std::vector<std::int32_t>(kHeads)};
    for (std::int64_t row = 0; row < shard.rows; ++row)
      shard.slots[0].push_back(static_cast<std::int32_t>(row * dilation));
    const auto ring_device = cuda_ring_device();
    ring_device->load(shard);
    const std::size_t bytes = kBytes / static_cast<std::size_t>(dilation);
    const double packed = rate(2 * bytes, [&] {
      ring_device->pack({k.data(), v.data()}, {to_k.data(), to_v.data()}, 1, kRows, kHeadBytes);
    });
    const double copied = rate(2 * bytes, [&] {
      HILBENCH_CUDA(cudaMemcpyAsync(to_k.data(), k.data(), bytes, cudaMemcpyDeviceToDevice, nullptr));
      HILBENCH_CUDA(cudaMemcpyAsync(to_v.data(), v.data(), bytes, cudaMemcpyDeviceToDevice, nullptr));
    });
    std::printf("twice %zu MiB, every row of %d%s: packed %.0f, copied %.0f GB/s\n", bytes >> 20, dilation,
                heads_first ? ", head by head" : "", packed, copied);
    EXPECT_GT(packed, 0.7 * copied);
  }
}

// If a rank cannot allocate, the ring ends at once; if a rank never arrives, it ends at the timeout.
TEST(GpuRingFaults, EndTheRing) {
  if (!survey().absence.empty()) GTEST_SKIP() << survey().absence;
  const Gpus gpus(1);
  const auto begin = std::chrono::steady_clock::now();
  const auto out_of_memory = gpus.resources(3, TransportKind::peer);
  const auto errors = run_ranks(3, [&](int rank) {
    try {
      out_of_memory->join(rank);
      if (rank == 1) out_of_memory->device(rank).allocate(std::size_t{1} << 50);
      out_of_memory->start(rank);
    } catch (const std::exception& error) {
      out_of_memory->abort(rank, error.what());
      throw;
    }
  });
  for (const std::string& error : errors)
    EXPECT_NE(error.find("no 1048576.00 GiB of GPU memory"), std::string::npos) << error;
  const auto missing = gpus.resources(2, TransportKind::peer, 0.5);
  const auto waited = run_ranks(2, [&](int rank) {
    missing->join(rank);
    if (rank == 0) missing->start(rank);
  });
  EXPECT_EQ(waited[0], "rank 0 waited 0.5 s for rank 1 to come");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

}  // namespace
}  // namespace hilbench
