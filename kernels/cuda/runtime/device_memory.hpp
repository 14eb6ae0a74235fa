// Owner of device memory. C++17 and no fmt.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/cuda/runtime/status.hpp"

namespace hilbench::cuda {

// Uninitialised memory on the current device. Throws CudaError if it cannot be allocated.
void* allocate(std::size_t bytes);
void release(void* data) noexcept;

// A word of host memory, 0, which kernels of all GPUs read and write at the same address. Throws CudaError.
std::shared_ptr<std::uint32_t> mapped_word();

// Uninitialised memory for `count` elements on the current device, freed with its owner.
template <class T>
class DeviceMemory {
 public:
  DeviceMemory() = default;
  explicit DeviceMemory(std::size_t count)
      : data_(count > 0 ? static_cast<T*>(allocate(count * sizeof(T))) : nullptr), count_(count) {}
  // A copy of `values`; complete when it returns.
  template <class Allocator>
  explicit DeviceMemory(const std::vector<T, Allocator>& values) : DeviceMemory(values.size()) {
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
    if (data_ != nullptr) release(data_);
  }

  T* data() const { return data_; }
  std::size_t size() const { return count_; }

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace hilbench::cuda
