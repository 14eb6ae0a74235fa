// What the run of a rank needs of the device that its tensors lie on, beside a kernel and a transport.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "kernels/case/case.hpp"
#include "kernels/index/row_writes.hpp"
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

  // Whether the device itself clears and rounds the rows that launches touch or leave out, so that kernels
  // get no tiles without keys and round nothing; then the rest is to be had.
  virtual bool clears_and_rounds() const { return false; }
  // Keeps row_writes [rows, heads] of every batch entry's rows where they are needed.
  virtual void load(const Case& /*work*/, std::int64_t /*rows*/,
                    const std::vector<RowWrites>& /*row_writes*/) {}
  // O = 0 and LSE = -infinity in rows that are untouched, or merged into first. `o_fp32`, where it is not
  // null, has all rows but the untouched ones.
  virtual void clear(void* /*o*/, float* /*o_fp32*/, float* /*lse*/) {}
  // o_fp32 to o in all rows but the untouched ones.
  virtual void round(float* /*o_fp32*/, void* /*o*/) {}
};

std::unique_ptr<RingDevice> cpu_ring_device(int threads);
// Of the calling thread's current GPU, by stream 0; in a build with CUDA. head_bytes is a multiple of 16.
// Throws cuda::CudaError.
std::unique_ptr<RingDevice> cuda_ring_device();

}  // namespace hilbench
