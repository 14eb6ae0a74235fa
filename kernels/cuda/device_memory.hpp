// Owner of device memory. C++17 and no fmt.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdio>
#include <utility>
#include <vector>

#include "kernels/cuda/status.hpp"

namespace hilbench::cuda {

// Uninitialised memory for `count` elements on the current device, freed with its owner.
template <class T>
class DeviceMemory {
 public:
  DeviceMemory() = default;
  // Throws CudaError where the memory is not to be had.
  explicit DeviceMemory(std::size_t count) : count_(count) {
    if (count > 0) HILBENCH_CUDA(cudaMalloc(reinterpret_cast<void**>(&data_), count * sizeof(T)));
  }
  // A copy of `values`; complete when it returns.
  explicit DeviceMemory(const std::vector<T>& values) : DeviceMemory(values.size()) {
    if (count_ > 0)
      HILBENCH_CUDA(cudaMemcpy(data_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  DeviceMemory(DeviceMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    return *this;
  }
  ~DeviceMemory() {
    const cudaError_t status = data_ != nullptr ? cudaFree(data_) : cudaSuccess;
    // A lost device fails every call: the one that lost it has been reported.
    if (status != cudaSuccess) std::fprintf(stderr, "cudaFree: %s\n", cudaGetErrorString(status));
  }

  T* data() const { return data_; }
  std::size_t size() const { return count_; }

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace hilbench::cuda
