// What a rank's run needs from the device that holds its tensors, besides a kernel and a transport.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "kernels/case/case.hpp"
#include "kernels/index/row_writes.hpp"
#include "kernels/ring/ring_index.hpp"

namespace hilbench {

// Rows that are `step` bytes apart.
struct RowsFrom {
  const std::byte* first = nullptr;
  std::size_t step = 0;
};
struct RowsTo {
  std::byte* first = nullptr;
  std::size_t step = 0;
};

// K and V of the same rows, in a tensor of a rank or in a buffer.
struct ConstKvRows {
  const void* k = nullptr;
  const void* v = nullptr;
};
struct KvRows {
  void* k = nullptr;
  void* v = nullptr;
};

class RingDevice {
 public:
  virtual ~RingDevice() = default;
  // At least `bytes` bytes of zeros, 64-byte aligned.
  virtual std::shared_ptr<void> allocate(std::size_t bytes) = 0;
  // Stores what pack() needs on the device.
  virtual void load(const PackedShard& packed) = 0;
  // Copies the loaded shard's rows from `from`, tensors [batch, from_rows, kv_heads, head_bytes], to `to`,
  // which allocate() returned, in the layout of the loaded shard.
  virtual void pack(ConstKvRows from, KvRows to, std::int64_t batch, std::int64_t from_rows,
                    std::int64_t head_bytes) = 0;
  // Copies `rows` rows of `row_bytes` bytes.
  virtual void copy_rows(RowsFrom from, RowsTo to, std::size_t row_bytes, std::int64_t rows) = 0;

  // True if the device clears and rounds rows itself; kernels then get no empty tiles and round nothing, and
  // the functions below work. Each part of the heads of a run has its own output and row_writes.
  virtual bool clears_and_rounds() const { return false; }
  // Stores row_writes [rows, heads] of a part, the same for every batch entry, on the device. Returns the
  // number by which the functions below know the part.
  virtual std::size_t load(const Case& /*work*/, std::int64_t /*rows*/,
                           const std::vector<RowWrites>& /*row_writes*/) {
    return 0;
  }
  // Sets O = 0 and LSE = -infinity in rows that are untouched or merged into first. If `o_fp32` is not null,
  // all rows except the untouched ones are in it.
  virtual void clear(std::size_t /*part*/, void* /*o*/, float* /*o_fp32*/, float* /*lse*/) {}
  // Rounds o_fp32 to o in all rows except the untouched ones.
  virtual void round(std::size_t /*part*/, float* /*o_fp32*/, void* /*o*/) {}

  // What persistent launches need. Returns when all that is enqueued is done.
  virtual void synchronize() {}
  // A word of host memory that kernels may write, zero.
  virtual std::shared_ptr<std::uint32_t> host_word() { return nullptr; }
};

// Its memory is on `pages` (kernels/machine/host_memory.hpp).
std::unique_ptr<RingDevice> cpu_ring_device(int threads, PageSize pages = PageSize::standard);
// For the calling thread's current GPU, on stream 0. Only in a build with CUDA. head_bytes is a multiple of
// 16. Throws cuda::CudaError.
std::unique_ptr<RingDevice> cuda_ring_device();

}  // namespace hilbench
