// Loops that keep one arithmetic unit busy on every multiprocessor, and nothing else. All bits of their data
// look random, because the power that an operation draws, and with it the clock, depends on the operands.
//
// One step of the tensor loop is kStepFlops for every device: wgmma in code for sm_90a, mma.sync in other
// code from compute capability 8.0 up.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <type_traits>

#include "baselines/peak/device_peak.hpp"
#include "kernels/cuda/runtime/device_memory.hpp"
#include "kernels/cuda/runtime/event.hpp"
#include "kernels/cuda/runtime/status.hpp"

// Hopper's header uses types that exist since CUDA 12.
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#include "kernels/cuda/wgmma/hopper.cuh"
#elif __CUDA_ARCH__ >= 800
#include "kernels/cuda/mma/mma.cuh"
#endif

namespace hilbench::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kBlocksPerSm = 2;

constexpr int kFmaChains = 16;
constexpr int kFmaSteps = 20'000;
constexpr int kFmaBlocks = 4 * kBlocksPerSm;  // on each multiprocessor, in waves

constexpr int kTensorSteps = 12'000;
constexpr double kStepFlops = 2.0 * 2 * 64 * 128 * 16;  // of a block: two warp groups, or 8 warps with 16 mma

__device__ float peak_sink;  // never written; keeps the compiler from removing the work

__device__ __forceinline__ unsigned scrambled(unsigned x) {
  x ^= x >> 16, x *= 0x7feb352du, x ^= x >> 15, x *= 0x846ca68bu;
  return x ^ x >> 16;
}

// x * x - 1.7 stays within [-2, 2] and never settles.
__global__ void __launch_bounds__(kThreads) fma_loop(int steps) {
  float x[kFmaChains];
#pragma unroll
  for (int i = 0; i < kFmaChains; ++i)
    x[i] = static_cast<float>(scrambled(threadIdx.x * kFmaChains + i) & 0xffffff) * (1.0f / 0x1000000);
#pragma unroll 8
  for (int step = 0; step < steps; ++step)
#pragma unroll
    for (int i = 0; i < kFmaChains; ++i) x[i] = fmaf(x[i], x[i], -1.7f);
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kFmaChains; ++i) sum += x[i];
  if (sum == 1e30f) peak_sink = sum;
}

// Two numbers of magnitude 1/8 to 2, with random sign and mantissa.
template <PeakUnit kUnit>
__device__ __forceinline__ unsigned random_pair(unsigned index) {
  const unsigned bits = scrambled(index);
  if (kUnit == PeakUnit::bf16_tensor) return (bits & 0x81ff81ffu) + 0x3e003e00u;
  return (bits & 0x8fff8fffu) + 0x30003000u;
}

template <PeakUnit kUnit>
using TensorElement = std::conditional_t<kUnit == PeakUnit::bf16_tensor, __nv_bfloat16, __half>;

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

// Descriptor of a matrix of 8 x 8 core matrices, 128 bytes each, first along k and then along the rows; not
// swizzled (PTX ISA, "Matrix Descriptor Format").
__device__ __forceinline__ unsigned long long descriptor(const void* matrix) {
  const auto address = static_cast<unsigned long long>(__cvta_generic_to_shared(matrix));
  return (address & 0x3ffff) >> 4 | 128ull >> 4 << 16 | 256ull >> 4 << 32;
}

template <PeakUnit kUnit>
__device__ __forceinline__ void tensor_steps(int steps) {
  constexpr int kDepth = 4;  // k-steps of 16 held in shared memory
  constexpr int kBytesA = 64 * 16 * 2, kBytesB = 128 * 16 * 2;
  __shared__ alignas(128) unsigned a[2][kDepth][kBytesA / 4];
  __shared__ alignas(128) unsigned b[kDepth][kBytesB / 4];
  for (int i = threadIdx.x; i < 2 * kDepth * kBytesA / 4; i += kThreads) a[0][0][i] = random_pair<kUnit>(i);
  for (int i = threadIdx.x; i < kDepth * kBytesB / 4; i += kThreads) b[0][i] = random_pair<kUnit>(~i);
  fence_proxy_async();
  __syncthreads();
  float d[64];
#pragma unroll
  for (float& x : d) x = 0;
  const int group = threadIdx.x / 128;
  for (int step = 0; step < steps; step += kDepth) {
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < kDepth; ++k)
      wgmma_shared(TensorElement<kUnit>(), d, descriptor(a[group][k]), descriptor(b[k]), 1);
    wgmma_commit();
    wgmma_wait<0>();
  }
  float sum = 0;
#pragma unroll
  for (const float x : d) sum += x;
  if (sum == 1e30f) peak_sink = sum;
}

#elif __CUDA_ARCH__ >= 800

template <PeakUnit kUnit>
__device__ __forceinline__ void tensor_steps(int steps) {
  constexpr int kRows = 4, kColumns = 4;  // fragments: 16 products a warp and step
  std::uint32_t a[kRows][4], b[kColumns][2];
  float d[kRows][kColumns][4] = {};
#pragma unroll
  for (int i = 0; i < kRows * 4; ++i) a[i / 4][i % 4] = random_pair<kUnit>(threadIdx.x * kRows * 4 + i);
#pragma unroll
  for (int i = 0; i < kColumns * 2; ++i)
    b[i / 2][i % 2] = random_pair<kUnit>(~(threadIdx.x * kColumns * 2 + i));
  for (int step = 0; step < steps; ++step)
#pragma unroll
    for (int i = 0; i < kRows; ++i)
#pragma unroll
      for (int j = 0; j < kColumns; ++j) multiply_add<TensorElement<kUnit>>(d[i][j], a[i], b[j][0], b[j][1]);
  float sum = 0;
#pragma unroll
  for (int i = 0; i < kRows * kColumns * 4; ++i) sum += d[i / 16][i / 4 % 4][i % 4];
  if (sum == 1e30f) peak_sink = sum;
}

#else

template <PeakUnit kUnit>
__device__ __forceinline__ void tensor_steps(int) {}

#endif

__global__ void fill_random(unsigned* to, std::size_t words) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < words; i += step)
    to[i] = scrambled(static_cast<unsigned>(i));
}

template <PeakUnit kUnit>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm) tensor_loop(int steps) {
  tensor_steps<kUnit>(steps);
}

int attribute(cudaDeviceAttr which) {
  int device = 0, value = 0;
  HILBENCH_CUDA(cudaGetDevice(&device));
  HILBENCH_CUDA(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

int multiprocessors() {
  return attribute(cudaDevAttrMultiProcessorCount);
}

// True if the tensor loop has a body for the current device. Creates no context.
bool has_tensor_loop() {
  return attribute(cudaDevAttrComputeCapabilityMajor) >= 8;
}

// Seconds of the shortest run. Runs as often as `budget_s` allows, at least twice.
template <class Run>
double best_seconds(double budget_s, Run run) {
  using Clock = std::chrono::steady_clock;
  Event begin, end;
  const Clock::time_point start = Clock::now();
  double best_s = 0;
  for (int runs = 0; runs < 3 || std::chrono::duration<double>(Clock::now() - start).count() < budget_s;
       ++runs) {
    begin.record();
    run();
    end.record();
    const double run_s = 1e-9 * end.ns_since(begin);
    if (runs > 0) best_s = runs == 1 ? run_s : std::min(best_s, run_s);  // the first loads the code
  }
  return best_s;
}

double unit_rate(PeakUnit unit, double budget_s) {
  const double flops = peak_work_flops(unit);
  if (flops == 0) return 0;
  return flops / best_seconds(budget_s, [unit] { run_peak_work(unit, nullptr); });
}

double copy_rate(double budget_s) {
  constexpr std::size_t kMostBytes = 1u << 30;
  std::size_t free_bytes = 0, total_bytes = 0;
  HILBENCH_CUDA(cudaMemGetInfo(&free_bytes, &total_bytes));
  const std::size_t bytes = std::min(kMostBytes, free_bytes / 4) / 512 * 512;
  if (bytes == 0) return 0;
  const DeviceMemory<std::byte> from(bytes), to(bytes);
  fill_random<<<8 * multiprocessors(), kThreads>>>(reinterpret_cast<unsigned*>(from.data()), bytes / 4);
  HILBENCH_CUDA(cudaGetLastError());
  const double seconds = best_seconds(budget_s, [&] {
    HILBENCH_CUDA(cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToDevice, nullptr));
  });
  return 2.0 * static_cast<double>(bytes) / seconds;
}

}  // namespace

double peak_work_flops(PeakUnit unit) {
  if (unit == PeakUnit::fp32_fma)
    return 2.0 * kFmaChains * kFmaSteps * kThreads * kFmaBlocks * multiprocessors();
  if (!has_tensor_loop()) return 0;
  return kStepFlops * kTensorSteps * kBlocksPerSm * multiprocessors();
}

void run_peak_work(PeakUnit unit, cudaStream_t stream) {
  const int blocks = multiprocessors() * kBlocksPerSm;
  if (unit == PeakUnit::fp32_fma) {
    fma_loop<<<multiprocessors() * kFmaBlocks, kThreads, 0, stream>>>(kFmaSteps);
  } else if (!has_tensor_loop()) {
    return;
  } else if (unit == PeakUnit::bf16_tensor) {
    tensor_loop<PeakUnit::bf16_tensor><<<blocks, kThreads, 0, stream>>>(kTensorSteps);
  } else {
    tensor_loop<PeakUnit::fp16_tensor><<<blocks, kThreads, 0, stream>>>(kTensorSteps);
  }
  HILBENCH_CUDA(cudaGetLastError());
}

DevicePeak measure_device_peak(double seconds) {
  DevicePeak peak;
  peak.fp32_fma_flops = unit_rate(PeakUnit::fp32_fma, seconds / 4);
  peak.bf16_tensor_flops = unit_rate(PeakUnit::bf16_tensor, seconds / 4);
  peak.fp16_tensor_flops = unit_rate(PeakUnit::fp16_tensor, seconds / 4);
  peak.copy_bytes_per_s = copy_rate(seconds / 4);
  return peak;
}

}  // namespace hilbench::cuda
