#include "kernels/cuda/runtime/device_memory.hpp"

#include <cstdio>
#include <new>

namespace hilbench::cuda {
namespace {

std::string gib(std::size_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f GiB", static_cast<double>(bytes) / (1 << 30));
  return text;
}

std::string what_is_free() {
  std::size_t free = 0, total = 0;
  if (cudaMemGetInfo(&free, &total) != cudaSuccess) return "the driver does not say how much is free";
  return gib(free) + " of " + gib(total) + " are free";
}

}  // namespace

void* allocate(std::size_t bytes) {
  void* data = nullptr;
  const cudaError_t status = cudaMalloc(&data, bytes);
  if (status != cudaErrorMemoryAllocation) {
    check(status, "cudaMalloc", __FILE__, __LINE__);
    return data;
  }
  cudaGetLastError();  // clears the error, which the next checked launch would report
  throw CudaError(status, "no " + gib(bytes) + " of GPU memory: " + what_is_free() +
                              " (cudaErrorMemoryAllocation); end other programs on the GPU, or measure fewer "
                              "variants at once (--filter) or shorter sequences");
}

void release(void* data) noexcept {
  report(cudaFree(data), "cudaFree");
}

std::shared_ptr<std::uint32_t> mapped_word() {
  void* memory = nullptr;
  HILBENCH_CUDA(cudaHostAlloc(&memory, sizeof(std::uint32_t), cudaHostAllocPortable | cudaHostAllocMapped));
  return {new (memory) std::uint32_t(0),
          [](std::uint32_t* word) { report(cudaFreeHost(word), "cudaFreeHost"); }};
}

}  // namespace hilbench::cuda
