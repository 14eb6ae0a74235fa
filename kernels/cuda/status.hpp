// CUDA status codes as exceptions. C++17 and no fmt.
#pragma once

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

namespace hilbench::cuda {

// A call that failed: "cudaMalloc(...): out of memory (cudaErrorMemoryAllocation) at device.cpp:12".
class CudaError : public std::runtime_error {
 public:
  CudaError(cudaError_t status, const char* call, const char* file, int line);
  cudaError_t status() const { return status_; }

 private:
  cudaError_t status_;
};

inline void check(cudaError_t status, const char* call, const char* file, int line) {
  if (status != cudaSuccess) throw CudaError(status, call, file, line);
}

}  // namespace hilbench::cuda

#define HILBENCH_CUDA(call) ::hilbench::cuda::check((call), #call, __FILE__, __LINE__)
