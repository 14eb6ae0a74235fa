#include <cuda_runtime_api.h>

#include "kernels/cuda/device_memory.hpp"
#include "kernels/cuda/pack.hpp"
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
  }

  void pack(const void* from, void* to, std::int64_t batch, std::int64_t from_rows,
            std::int64_t head_bytes) override {
    const cuda::PackTables tables = {slots_.data(), class_of_head_.data(), rows_,
                                     static_cast<std::int32_t>(class_of_head_.size())};
    cuda::pack_rows(from, to, batch, from_rows, tables, head_bytes, nullptr);
  }

 private:
  cuda::DeviceMemory<std::int32_t> slots_, class_of_head_;
  std::int64_t rows_ = 0;
};

}  // namespace

std::unique_ptr<RingDevice> cuda_ring_device() {
  return std::make_unique<CudaRingDevice>();
}

}  // namespace hilbench
