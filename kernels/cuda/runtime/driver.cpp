#include "kernels/cuda/runtime/driver.hpp"

#include <cuda.h>

#include <stdexcept>
#include <string>

#include "kernels/cuda/runtime/status.hpp"

namespace hilbench::cuda {

void* driver_function(const char* name) {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
  HILBENCH_CUDA(cudaGetDriverEntryPointByVersion(name, &entry, 12000, cudaEnableDefault, &found));
#else
  HILBENCH_CUDA(cudaGetDriverEntryPoint(name, &entry, cudaEnableDefault, &found));
#endif
  if (found != cudaDriverEntryPointSuccess || entry == nullptr)
    throw std::runtime_error(std::string("this driver has no ") + name);
  return entry;
}

void write_value(std::uint32_t* word, std::uint32_t value, cudaStream_t stream) {
  using Write = decltype(&cuStreamWriteValue32);
  static const Write function = reinterpret_cast<Write>(driver_function("cuStreamWriteValue32"));
  const CUresult status =
      function(stream, reinterpret_cast<CUdeviceptr>(word), value, CU_STREAM_WRITE_VALUE_DEFAULT);
  if (status != CUDA_SUCCESS)
    throw std::runtime_error("cuStreamWriteValue32: driver error " +
                             std::to_string(static_cast<int>(status)));
}

}  // namespace hilbench::cuda
