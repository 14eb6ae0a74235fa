#include "kernels/cuda/runtime/status.hpp"
#include "tests/kernels/ring/transport/busy.hpp"

namespace hilbench::cuda {
namespace {

__global__ void __launch_bounds__(1024) spin(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

int attribute(cudaDeviceAttr which) {
  int device = 0, value = 0;
  HILBENCH_CUDA(cudaGetDevice(&device));
  HILBENCH_CUDA(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

}  // namespace

void occupy_every_sm(std::int64_t cycles, int waves, cudaStream_t stream) {
  const int bytes = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  HILBENCH_CUDA(cudaFuncSetAttribute(spin, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  spin<<<waves * attribute(cudaDevAttrMultiProcessorCount), 1024, bytes, stream>>>(cycles / waves);
  HILBENCH_CUDA(cudaGetLastError());
}

}  // namespace hilbench::cuda
