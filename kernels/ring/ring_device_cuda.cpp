#include <cuda_runtime_api.h>

#include <algorithm>

#include "kernels/cuda/runtime/device_memory.hpp"
#include "kernels/cuda/runtime/status.hpp"
#include "kernels/cuda/shared/forward_execution.hpp"
#include "kernels/cuda/shared/output_rows.hpp"
#include "kernels/cuda/shared/pack.hpp"
#include "kernels/ring/ring_device.hpp"

namespace hilbench {
namespace {

class CudaRingDevice final : public RingDevice {
 public:
  std::shared_ptr<void> allocate(std::size_t bytes) override {
    auto memory = std::make_shared<cuda::DeviceMemory<std::byte>>(bytes);
    HILBENCH_CUDA(cudaMemsetAsync(memory->data(), 0, bytes, nullptr));
    return {memory, memory->data()};
  }

  void load(const PackedShard& packed) override {
    std::vector<std::int32_t> slots;
    for (const std::vector<std::int32_t>& taken : packed.slots) {
      slots.insert(slots.end(), taken.begin(), taken.end());
      slots.resize(slots.size() + static_cast<std::size_t>(packed.rows) - taken.size(), -1);
    }
    slots_ = cuda::DeviceMemory<std::int32_t>(slots);
    class_of_head_ = cuda::DeviceMemory<std::int32_t>(packed.class_of_head);
    rows_ = packed.rows;
    heads_first_ = packed.heads_first;
  }

  void pack(ConstKvRows from, KvRows to, std::int64_t batch, std::int64_t from_rows,
            std::int64_t head_bytes) override {
    const cuda::PackTables tables = {slots_.data(), class_of_head_.data(), rows_,
                                     static_cast<std::int32_t>(class_of_head_.size()), heads_first_};
    cuda::pack_rows({from.k, to.k}, {from.v, to.v}, batch, from_rows, tables, head_bytes, nullptr);
  }

  void copy_rows(RowsFrom from, RowsTo to, std::size_t row_bytes, std::int64_t rows) override {
    if (rows == 0) return;
    HILBENCH_CUDA(cudaMemcpy2DAsync(to.first, to.step, from.first, from.step, row_bytes,
                                    static_cast<std::size_t>(rows), cudaMemcpyDeviceToDevice, nullptr));
  }

  bool clears_and_rounds() const override { return true; }

  std::size_t load(const Case& work, std::int64_t rows, const std::vector<RowWrites>& row_writes) override {
    Part& part = parts_.emplace_back();
    part.shape = cuda::forward_shape(work);
    part.shape.sequence = static_cast<std::int32_t>(rows);
    part.row_writes = cuda::DeviceMemory<RowWrites>(row_writes);
    part.clears = std::any_of(row_writes.begin(), row_writes.end(),
                              [](RowWrites writes) { return writes != RowWrites::stored; });
    return parts_.size() - 1;
  }

  void clear(std::size_t part, void* o, float* o_fp32, float* lse) override {
    const Part& of = parts_.at(part);
    if (of.clears) cuda::clear_rows(of.shape, of.rows(o, o_fp32, lse), nullptr);
  }

  void round(std::size_t part, float* o_fp32, void* o) override {
    const Part& of = parts_.at(part);
    if (of.shape.sequence > 0) cuda::round_rows(of.shape, of.rows(o, o_fp32, nullptr), nullptr);
  }

  void synchronize() override { HILBENCH_CUDA(cudaStreamSynchronize(nullptr)); }

  std::shared_ptr<std::uint32_t> host_word() override { return cuda::mapped_word(); }

 private:
  struct Part {
    cuda::ForwardShape shape;
    cuda::DeviceMemory<RowWrites> row_writes;
    bool clears = false;
    cuda::OutputRows rows(void* o, float* o_fp32, float* lse) const {
      return {reinterpret_cast<const std::uint8_t*>(row_writes.data()), o, o_fp32, lse};
    }
  };

  std::vector<Part> parts_;
  cuda::DeviceMemory<std::int32_t> slots_, class_of_head_;
  std::int64_t rows_ = 0;
  bool heads_first_ = false;
};

}  // namespace

std::unique_ptr<RingDevice> cuda_ring_device() {
  return std::make_unique<CudaRingDevice>();
}

}  // namespace hilbench
