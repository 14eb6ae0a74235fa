#include "kernels/cuda/runtime/status.hpp"

#include <cstdio>
#include <cstring>

namespace hilbench::cuda {
namespace {

std::string text_of(cudaError_t status, const char* call, const char* file, int line) {
  const char* slash = std::strrchr(file, '/');
  return std::string(call) + ": " + cudaGetErrorString(status) + " (" + cudaGetErrorName(status) + ") at " +
         (slash != nullptr ? slash + 1 : file) + ":" + std::to_string(line);
}

}  // namespace

CudaError::CudaError(cudaError_t status, const char* call, const char* file, int line)
    : std::runtime_error(text_of(status, call, file, line)), status_(status) {}

void report(cudaError_t status, const char* call) noexcept {
  const bool misused = status == cudaErrorInvalidValue || status == cudaErrorInvalidDevicePointer ||
                       status == cudaErrorInvalidResourceHandle;
  if (misused) std::fprintf(stderr, "hilbench: %s: %s\n", call, cudaGetErrorString(status));
}

}  // namespace hilbench::cuda
