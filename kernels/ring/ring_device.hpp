// What the run of a rank needs of the device that its tensors lie on, beside a kernel and a transport.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "kernels/ring/ring_index.hpp"

namespace hilbench {

class RingDevice {
 public:
  virtual ~RingDevice() = default;
  // 64-byte aligned zeros, or more of them.
  virtual std::shared_ptr<void> allocate(std::size_t bytes) = 0;
  // Keeps what pack() needs where it runs.
  virtual void load(const PackedShard& packed) = 0;
  // Takes the loaded shard's rows out of `from` [batch, from_rows, kv_heads, head_bytes] into `to`, which
  // allocate() gave.
  virtual void pack(const void* from, void* to, std::int64_t batch, std::int64_t from_rows,
                    std::int64_t head_bytes) = 0;
};

std::unique_ptr<RingDevice> cpu_ring_device(int threads);
// Of the calling thread's current GPU, by stream 0; in a build with CUDA. head_bytes is a multiple of 16.
// Throws cuda::CudaError.
std::unique_ptr<RingDevice> cuda_ring_device();

}  // namespace hilbench
