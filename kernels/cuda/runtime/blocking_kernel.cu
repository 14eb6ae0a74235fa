#include "kernels/cuda/runtime/blocking_kernel.hpp"
#include "kernels/cuda/runtime/status.hpp"

namespace hilbench::cuda {
namespace {

__global__ void blocking_kernel(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

}  // namespace

void hold(std::int64_t cycles, cudaStream_t stream) {
  blocking_kernel<<<1, 1, 0, stream>>>(cycles);
  HILBENCH_CUDA(cudaGetLastError());
}

}  // namespace hilbench::cuda
