#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "kernels/cuda/runtime/status.hpp"
#include "kernels/cuda/shared/shard_copier.cuh"
#include "kernels/cuda/shared/shard_launches.hpp"

namespace hilbench::cuda {
namespace {

constexpr int kWarps = 16;  // of a block that only copies

struct Words {
  std::uint32_t word[256];
};

__global__ void store_kernel(const Words words, std::uint32_t* to, int count) {
  for (int i = threadIdx.x; i < count; i += blockDim.x) to[i] = words.word[i];
}

// The other kernels are empty for older GPUs, which have no instructions that acquire and release, and no
// persistent launch either.

// A new launch sees what the stream has written before; the release makes it visible to other GPUs.
__global__ void tell_kernel(std::uint32_t* word, std::uint32_t value) {
#if __CUDA_ARCH__ >= 700
  store_released(word, value);
#endif
}

__global__ void __launch_bounds__(32 * kWarps) copy_kernel(const ShardCopies copies) {
#if __CUDA_ARCH__ >= 700
  CopyingWarp warp;
  const std::uint32_t copier = blockIdx.x * kWarps + threadIdx.x / 32;
  if (copier < copies.copiers) hilbench::copy_shards(copies, copier, warp);
#endif
}

__global__ void wait_kernel(const ShardReaders readers) {
#if __CUDA_ARCH__ >= 700
  WaitingThread thread;
  hilbench::wait_until_read(readers, thread);
#endif
}

}  // namespace

// A link of 400 GB/s whose loads take 1.5 us has 600 KB under way. A warp has 4 KiB, so 192 of them have 768
// KiB: all warps of 12 multiprocessors with 16, or of 16 with 12. Smaller GPUs get as many for each
// multiprocessor. 48 is a multiple of both numbers of warps of a block.
std::uint32_t shard_copiers(int multiprocessors) {
  return static_cast<std::uint32_t>(48 * std::clamp(multiprocessors / 32, 1, 4));
}

void store(const void* data, std::size_t bytes, void* to, cudaStream_t stream) {
  if (bytes % sizeof(std::uint32_t) != 0) throw std::invalid_argument("a table that is not made of words");
  for (std::size_t begin = 0; begin < bytes; begin += sizeof(Words)) {
    Words words{};
    const std::size_t part = std::min(sizeof(Words), bytes - begin);
    std::memcpy(words.word, static_cast<const char*>(data) + begin, part);
    store_kernel<<<1, 256, 0, stream>>>(words,
                                        reinterpret_cast<std::uint32_t*>(static_cast<char*>(to) + begin),
                                        static_cast<int>(part / sizeof(std::uint32_t)));
    HILBENCH_CUDA(cudaGetLastError());
  }
}

void tell(std::uint32_t* word, std::uint32_t value, cudaStream_t stream) {
  tell_kernel<<<1, 1, 0, stream>>>(word, value);
  HILBENCH_CUDA(cudaGetLastError());
}

void copy_shards(const ShardCopies& copies, cudaStream_t stream) {
  copy_kernel<<<(copies.copiers + kWarps - 1) / kWarps, 32 * kWarps, 0, stream>>>(copies);
  HILBENCH_CUDA(cudaGetLastError());
}

void wait_until_read(const ShardReaders& readers, cudaStream_t stream) {
  wait_kernel<<<1, 1, 0, stream>>>(readers);
  HILBENCH_CUDA(cudaGetLastError());
}

}  // namespace hilbench::cuda
