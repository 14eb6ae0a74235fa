#include "kernels/cuda/status.hpp"

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

}  // namespace hilbench::cuda
