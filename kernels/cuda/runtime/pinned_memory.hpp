// Owner of pinned host memory, and copies to the device through it. C++17 and no fmt.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "kernels/cuda/runtime/device_memory.hpp"
#include "kernels/cuda/runtime/status.hpp"
#include "kernels/cuda/runtime/stream.hpp"

namespace hilbench::cuda {

// Uninitialised host memory for `count` elements, from and to which devices copy without the processor's
// help. Throws CudaError if it cannot be allocated.
template <class T>
class PinnedMemory {
 public:
  explicit PinnedMemory(std::size_t count) {
    void* memory = nullptr;
    HILBENCH_CUDA(cudaHostAlloc(&memory, std::max<std::size_t>(count, 1) * sizeof(T), cudaHostAllocPortable));
    data_ = static_cast<T*>(memory);
  }
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;
  ~PinnedMemory() { report(cudaFreeHost(data_), "cudaFreeHost"); }

  T* data() const { return data_; }

 private:
  T* data_ = nullptr;
};

// `count` elements on the current device. write(first, size, to) makes those from number `first` on in host
// memory, at most `part` at a time: while one part is copied, the next is made. A part and less is made and
// copied at once. Complete when it returns.
template <class T, class Write>
DeviceMemory<T> upload_parts(std::size_t count, std::size_t part, const Write& write) {
  if (count <= part) {
    std::vector<T> all(count);
    if (count > 0) write(std::size_t{0}, count, all.data());
    return DeviceMemory<T>(all);
  }
  DeviceMemory<T> memory(count);
  const PinnedMemory<T> parts[2] = {PinnedMemory<T>(part), PinnedMemory<T>(part)};
  Mark copied[2];
  std::size_t side = 0;
  for (std::size_t first = 0; first < count; first += part, side = 1 - side) {
    const std::size_t size = std::min(part, count - first);
    copied[side].wait();  // the first time there is nothing to wait for
    write(first, size, parts[side].data());
    HILBENCH_CUDA(cudaMemcpyAsync(memory.data() + first, parts[side].data(), size * sizeof(T),
                                  cudaMemcpyHostToDevice, nullptr));
    copied[side].set(nullptr);
  }
  HILBENCH_CUDA(cudaStreamSynchronize(nullptr));
  return memory;
}

}  // namespace hilbench::cuda
