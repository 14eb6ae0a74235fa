// Streams over a tensor: a value is NaN or infinite if all bits of its exponent are set.
#include <algorithm>

#include "kernels/cuda/runtime/status.hpp"
#include "kernels/cuda/shared/value_bits.hpp"

namespace hilbench::cuda {
namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kMostBlocks = 4096;

template <typename Bits>
struct Params {
  Bits* elements;
  std::int64_t count;
  Bits exponent, sign;
  Bits allowed;  // of which the exponent may be full; 0: none
  unsigned long long* bad;
};

template <typename Bits>
__global__ void __launch_bounds__(kThreads) count_bad(const Params<Bits> params) {
  unsigned found = 0;
  for (std::int64_t i = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x; i < params.count;
       i += gridDim.x * static_cast<std::int64_t>(kThreads)) {
    const Bits value = params.elements[i];
    found += (value & params.exponent) == params.exponent && value != params.allowed ? 1u : 0u;
  }
  if (found > 0) atomicAdd(params.bad, static_cast<unsigned long long>(found));
}

template <typename Bits>
__global__ void __launch_bounds__(kThreads) negate(const Params<Bits> params) {
  for (std::int64_t i = blockIdx.x * static_cast<std::int64_t>(kThreads) + threadIdx.x; i < params.count;
       i += gridDim.x * static_cast<std::int64_t>(kThreads))
    params.elements[i] = static_cast<Bits>(params.elements[i] ^ params.sign);
}

unsigned blocks_of(std::int64_t count) {
  return static_cast<unsigned>(std::min(kMostBlocks, (count + kThreads - 1) / kThreads));
}

// Calls launch(params) with those of the element.
template <typename Launch>
void with_params(void* elements, ElementBits bits, std::int64_t count, const Launch& launch) {
  if (bits == ElementBits::fp32)
    launch(Params<std::uint32_t>{static_cast<std::uint32_t*>(elements), count, 0x7f800000u, 0x80000000u, 0,
                                 nullptr});
  else
    launch(Params<std::uint16_t>{static_cast<std::uint16_t*>(elements), count,
                                 static_cast<std::uint16_t>(bits == ElementBits::bf16 ? 0x7f80 : 0x7c00),
                                 0x8000, 0, nullptr});
}

}  // namespace

std::int64_t count_bad_values(const void* elements, ElementBits bits, std::int64_t count,
                              bool negative_infinity_allowed, unsigned long long* counter,
                              cudaStream_t stream) {
  if (count == 0) return 0;
  HILBENCH_CUDA(cudaMemsetAsync(counter, 0, sizeof *counter, stream));
  with_params(const_cast<void*>(elements), bits, count, [&](auto params) {
    using Params = decltype(params);
    params.bad = counter;
    if (negative_infinity_allowed)
      params.allowed = static_cast<decltype(Params::allowed)>(params.sign | params.exponent);
    count_bad<<<blocks_of(count), kThreads, 0, stream>>>(params);
  });
  HILBENCH_CUDA(cudaGetLastError());
  unsigned long long found = 0;
  HILBENCH_CUDA(cudaMemcpyAsync(&found, counter, sizeof found, cudaMemcpyDeviceToHost, stream));
  HILBENCH_CUDA(cudaStreamSynchronize(stream));
  return static_cast<std::int64_t>(found);
}

void negate_values(void* elements, ElementBits bits, std::int64_t count, cudaStream_t stream) {
  if (count == 0) return;
  with_params(elements, bits, count,
              [&](const auto& params) { negate<<<blocks_of(count), kThreads, 0, stream>>>(params); });
  HILBENCH_CUDA(cudaGetLastError());
}

}  // namespace hilbench::cuda
