#include <cstring>

#include "kernels/machine/host_memory.hpp"
#include "kernels/ring/pack.hpp"
#include "kernels/ring/ring_device.hpp"

namespace hilbench {
namespace {

class CpuRingDevice final : public RingDevice {
 public:
  CpuRingDevice(int threads, PageSize pages) : threads_(threads), pages_(pages) {}

  std::shared_ptr<void> allocate(std::size_t bytes) override {
    std::shared_ptr<void> memory = allocate_workspace(bytes, pages_);
    std::memset(memory.get(), 0, bytes);
    return memory;
  }
  void load(const PackedShard& packed) override { packed_ = packed; }
  void pack(ConstKvRows from, KvRows to, std::int64_t batch, std::int64_t from_rows,
            std::int64_t head_bytes) override {
    pack_rows(from.k, to.k, batch, from_rows, packed_, head_bytes, threads_);
    pack_rows(from.v, to.v, batch, from_rows, packed_, head_bytes, threads_);
  }
  void copy_rows(RowsFrom from, RowsTo to, std::size_t row_bytes, std::int64_t rows) override {
#pragma omp parallel for schedule(static) num_threads(threads_)
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto at = static_cast<std::size_t>(row);
      std::memcpy(to.first + at * to.step, from.first + at * from.step, row_bytes);
    }
  }

 private:
  int threads_;
  PageSize pages_;
  PackedShard packed_;
};

}  // namespace

std::unique_ptr<RingDevice> cpu_ring_device(int threads, PageSize pages) {
  return std::make_unique<CpuRingDevice>(threads, pages);
}

}  // namespace hilbench
