#include "kernels/cuda/runtime/status.hpp"
#include "tests/kernels/cuda/traffic.hpp"

namespace hilbench::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kLoads = 8;  // of a thread, in flight together
static_assert(kTrafficBlockBytes == kThreads * kLoads * 16);

__device__ unsigned traffic_sink;  // never written: keeps the loads in the code

__device__ __forceinline__ void consume(unsigned x) {
  if (x == 0x9e3779b9u) traffic_sink = x;
}

__device__ __forceinline__ uint4 load_past_l1(const uint4* from) {
  uint4 x;
  asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
               : "l"(from));
  return x;
}

__device__ __forceinline__ unsigned folded(const uint4& x) {
  return x.x ^ x.y ^ x.z ^ x.w;
}

// Each block of threads reads one block of kTrafficBlockBytes.
__global__ void __launch_bounds__(kThreads) read_streaming(const uint4* buffer) {
  const uint4* const from = buffer + static_cast<std::int64_t>(blockIdx.x) * kThreads * kLoads + threadIdx.x;
  unsigned sum = 0;
#pragma unroll
  for (int i = 0; i < kLoads; ++i) sum += folded(load_past_l1(from + i * kThreads));
  consume(sum);
}

// Each block of threads reads its own kTrafficBlockBytes again and again, because requests of two
// multiprocessors for the same data may reach L2 as one. `step` is 0; the compiler cannot know that and reads
// anew each time.
__global__ void __launch_bounds__(kThreads)
    read_repeatedly(const uint4* buffer, int times, std::int64_t step) {
  const uint4* from = buffer + static_cast<std::int64_t>(blockIdx.x) * kThreads * kLoads + threadIdx.x;
  unsigned sum = 0;
#pragma unroll 1
  for (int time = 0; time < times; ++time, from += step)
#pragma unroll
    for (int i = 0; i < kLoads; ++i) sum += folded(load_past_l1(from + i * kThreads));
  consume(sum);
}

// Each thread reads one of kTrafficBlockBytes / 128 lines.
__global__ void __launch_bounds__(kThreads) read_strided(const unsigned* buffer) {
  const std::int64_t line = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  unsigned x;
  asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(x) : "l"(buffer + line * 32));
  consume(x);
}
static_assert(kTrafficBlockBytes == kThreads * 128);

}  // namespace

Traffic streaming_read(const void* buffer, std::int64_t bytes, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(bytes / kTrafficBlockBytes);
  read_streaming<<<blocks, kThreads, 0, stream>>>(static_cast<const uint4*>(buffer));
  HILBENCH_CUDA(cudaGetLastError());
  const auto total = static_cast<double>(bytes);
  return {total / 512, total / 32, total / 32, total};
}

Traffic repeated_read(const void* buffer, std::int64_t bytes, int times, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(bytes / kTrafficBlockBytes);
  read_repeatedly<<<blocks, kThreads, 0, stream>>>(static_cast<const uint4*>(buffer), times, 0);
  HILBENCH_CUDA(cudaGetLastError());
  const auto total = static_cast<double>(bytes);
  return {times * total / 512, times * total / 32, times * total / 32, total};
}

Traffic strided_read(const void* buffer, std::int64_t bytes, int dram_granule, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(bytes / kTrafficBlockBytes);
  read_strided<<<blocks, kThreads, 0, stream>>>(static_cast<const unsigned*>(buffer));
  HILBENCH_CUDA(cudaGetLastError());
  const auto total = static_cast<double>(bytes);
  return {total / 4096, total / 128, total / 128, dram_granule * total / 128};
}

}  // namespace hilbench::cuda
