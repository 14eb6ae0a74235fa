// Where a case runs: memory, movement, time and cache state. One implementation a kind of device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kernels/case/case.hpp"

namespace hilbench {

// Memory of a device, freed with its last owner. 64-byte aligned.
struct Buffer {
  std::shared_ptr<void> memory;
  std::size_t bytes = 0;
  void* data() const { return memory.get(); }
};

// Two ways to tell time: the ordinary one, and one that resolves very short executions.
enum class Clock { ordinary, fine };

enum class Direction { into_order, out_of_order };

class Device {
 public:
  virtual ~Device() = default;
  // Throws EnvironmentError where the memory is not to be had.
  virtual Buffer allocate(std::size_t bytes) = 0;
  // `bytes` of host memory to or from the buffer's bytes from `offset` on.
  virtual void upload(const void* from, std::size_t bytes, Buffer& to, std::size_t offset) = 0;
  virtual void download(const Buffer& from, std::size_t offset, std::size_t bytes, void* to) = 0;
  // Whole buffers.
  void upload(const void* from, Buffer& to) { upload(from, to.bytes, to, 0); }
  void download(const Buffer& from, void* to) { download(from, 0, from.bytes, to); }
  virtual void fill(Buffer& buffer, std::byte value) = 0;
  // Rows of `row_bytes`: into_order puts row t of every batch entry at slots[t], out_of_order brings it back.
  virtual void permute(const Buffer& from, Buffer& to, std::int64_t batch,
                       std::span<const std::int32_t> slots, std::int64_t row_bytes, Direction direction) = 0;
  // Duration of one execution of `body`, complete, by the device's own clock.
  virtual double time_ns(const std::function<void()>& body, Clock clock) = 0;
  double time_ns(const std::function<void()>& body) { return time_ns(body, Clock::ordinary); }
  // The clock for executions of about `estimate_ns`.
  virtual Clock clock_for(double) const { return Clock::ordinary; }
  virtual std::string_view name_of(Clock clock) const = 0;
  // Time that executions are repeated for before the first is measured: a GPU raises its clocks under load.
  virtual double warm_up_ns() const { return 0; }
  // Waits for all work; throws where some of it failed.
  virtual void synchronize() {}
  // Whether an error has made the device useless to this process.
  virtual bool lost() const { return false; }
  // Leaves nothing of earlier work in the caches.
  virtual void evict_caches() = 0;
  // FLOP/s that a unit (Variant::peak_unit) reaches here; nothing where that cannot be measured. Looks longer
  // while the answer is below `suspect`: other programs may be slowing the measurement.
  virtual std::optional<double> peak_flops(std::string_view, double /*suspect*/) { return std::nullopt; }
  // Runs `body` to its end between the marks that a profiler of the device heeds.
  virtual void profile(const std::function<void()>& body) { body(); }
  // Notes clocks, temperature, power and other programs on the device now; state() sums up what was noted.
  virtual void observe() {}
  // Of a GPU: its number.
  virtual std::optional<int> gpu_ordinal() const { return std::nullopt; }
  // By which CUDA_VISIBLE_DEVICES names it; empty: no GPU.
  virtual std::string gpu_uuid() const { return ""; }
  virtual nlohmann::json state() const;
};

std::unique_ptr<Device> open_cpu_device(int threads);
// Throws EnvironmentError where there is no such GPU or this build has no CUDA code.
std::unique_ptr<Device> open_cuda_device(int ordinal);

}  // namespace hilbench
