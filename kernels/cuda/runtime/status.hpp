// CUDA status codes as exceptions. C++17 and no fmt.
#pragma once

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

namespace hilbench::cuda {

// A call that failed: "cudaMemcpy(...): invalid argument (cudaErrorInvalidValue) at device.cpp:12".
class CudaError : public std::runtime_error {
 public:
  CudaError(cudaError_t status, const char* call, const char* file, int line);
  CudaError(cudaError_t status, const std::string& text) : std::runtime_error(text), status_(status) {}
  cudaError_t status() const { return status_; }

 private:
  cudaError_t status_;
};

inline void check(cudaError_t status, const char* call, const char* file, int line) {
  if (status != cudaSuccess) throw CudaError(status, call, file, line);
}

// For destructors: writes to standard error if the call itself was wrong. After work has failed, every later
// call returns the same status; that error was thrown already when the work was waited for.
void report(cudaError_t status, const char* call) noexcept;

}  // namespace hilbench::cuda

#define HILBENCH_CUDA(call) ::hilbench::cuda::check((call), #call, __FILE__, __LINE__)
