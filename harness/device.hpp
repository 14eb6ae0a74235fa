// Where a case runs: memory, movement, time and cache state. One implementation a kind of device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "harness/case.hpp"

namespace hilbench {

// Memory of a device, freed with its last owner. 64-byte aligned.
struct Buffer {
  std::shared_ptr<void> memory;
  std::size_t bytes = 0;
  void* data() const { return memory.get(); }
};

enum class Direction { into_order, out_of_order };

class Device {
 public:
  virtual ~Device() = default;
  // Throws EnvironmentError where the memory is not to be had.
  virtual Buffer allocate(std::size_t bytes) = 0;
  virtual void upload(const void* from, Buffer& to) = 0;    // to.bytes of host memory
  virtual void download(const Buffer& from, void* to) = 0;  // from.bytes
  virtual void fill(Buffer& buffer, std::byte value) = 0;
  // Rows of `row_bytes`: into_order puts row t of every batch entry at slots[t], out_of_order brings it back.
  virtual void permute(const Buffer& from, Buffer& to, std::int64_t batch,
                       std::span<const std::int32_t> slots, std::int64_t row_bytes, Direction direction) = 0;
  // Duration of one execution of `work` by the device's own clock.
  virtual double time_ns(const std::function<void()>& work) = 0;
  virtual std::string_view timer() const = 0;
  // Leaves nothing of earlier work in the caches.
  virtual void evict_caches() = 0;
};

std::unique_ptr<Device> open_cpu_device(int threads);

}  // namespace hilbench
