// The device that a case runs on: its memory, copies, clock and caches. One implementation for each kind.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "harness/device/energy.hpp"
#include "kernels/case/case.hpp"

namespace hilbench {

// Memory of a device, 64-byte aligned; freed when its last owner is gone.
struct Buffer {
  std::shared_ptr<void> memory;
  std::size_t bytes = 0;
  void* data() const { return memory.get(); }
};

// Two clocks: the ordinary one, and one that resolves very short executions.
enum class Clock { ordinary, fine };
// The fine clock of GPUs: what CUPTI records of each kernel.
inline constexpr std::string_view kKernelRecords = "cupti_activity";

enum class Direction { into_order, out_of_order };

enum class NegativeInfinity { bad, allowed };

class Device {
 public:
  virtual ~Device() = default;
  // Throws EnvironmentError if the allocation fails. The buffer starts at a random offset from where the
  // system would put it: up to 64 KiB, a multiple of 1 KiB, and a number of whole pages. So chance alignments
  // of two buffers, and the places of their pages, differ from process to process.
  Buffer allocate(std::size_t bytes);
  // Memory that the offsets of the buffers that are allocated now take, if buffers of a page or more lie in
  // pages of their own.
  std::size_t gap_bytes() const { return *gap_bytes_; }
  // Host memory, not set, from and to which copies are the fastest.
  virtual Buffer allocate_host(std::size_t bytes);
  // Seed of these offsets; 0: none.
  void set_offset_seed(std::uint64_t seed) { offset_seed_ = seed; }
  // Copies `bytes` between host memory and the buffer, starting at byte `offset` of the buffer.
  virtual void upload(const void* from, std::size_t bytes, Buffer& to, std::size_t offset) = 0;
  virtual void download(const Buffer& from, std::size_t offset, std::size_t bytes, void* to) = 0;
  // Copies a whole buffer.
  void upload(const void* from, Buffer& to) { upload(from, to.bytes, to, 0); }
  void download(const Buffer& from, void* to) { download(from, 0, from.bytes, to); }
  virtual void fill(Buffer& buffer, std::byte value) = 0;
  // How many of the elements that fill the buffer are NaN or infinite; -infinity does not count if it is
  // allowed.
  virtual std::int64_t count_bad(const Buffer& buffer, Dtype dtype, NegativeInfinity negative) = 0;
  // Changes the sign of every element.
  virtual void negate(Buffer& buffer, Dtype dtype) = 0;
  // Moves rows of `row_bytes`: into_order moves row t of every batch entry to slots[t], out_of_order
  // moves it back.
  virtual void permute(const Buffer& from, Buffer& to, std::int64_t batch,
                       std::span<const std::int32_t> slots, std::int64_t row_bytes, Direction direction) = 0;
  // Mean duration of a complete execution of `body`, by the device's own clock, over `executions` between two
  // readings of the clock.
  virtual double time_ns(const std::function<void()>& body, Clock clock, std::int64_t executions) = 0;
  double time_ns(const std::function<void()>& body) { return time_ns(body, Clock::ordinary, 1); }
  // Keeps the device at work for about `ns`: for gates that test themselves.
  virtual void work(double ns) = 0;
  // The clock to use for executions of about `estimate_ns`.
  virtual Clock clock_for(double) const { return Clock::ordinary; }
  virtual std::string_view name_of(Clock clock) const = 0;
  // How long executions are repeated before the first is measured: a GPU raises its clocks under load.
  virtual double warm_up_ns() const { return 0; }
  // Waits for all work; throws if some of it failed.
  virtual void synchronize() {}
  // True if an error has made the device unusable for this process.
  virtual bool lost() const { return false; }
  // Removes the data of earlier work from the caches.
  virtual void evict_caches() = 0;
  // FLOP/s that a unit (Implementation::peak_unit) reaches here; nothing if it cannot be measured. Measures
  // longer while the result is below `suspect`: other programs may be slowing it down.
  virtual std::optional<double> peak_flops(std::string_view, double /*suspect*/) { return std::nullopt; }
  // Runs `body` to its end between the start and stop marks of the device's profiler.
  virtual void profile(const std::function<void()>& body) { body(); }
  // Samples clocks, temperature, power and other programs on the device; state() summarises the samples.
  virtual void observe() {}
  // The energy that the whole device has used so far, whoever used it.
  virtual EnergyReading energy() { return {.counts = {}, .reason = "this device counts no energy"}; }
  // Runs `body`. The share of that time that the whole device worked, for whichever process; nothing if that
  // is not known.
  virtual std::optional<double> busy_share(const std::function<void()>& body) {
    body();
    return std::nullopt;
  }
  // The number of the GPU.
  virtual std::optional<int> gpu_ordinal() const { return std::nullopt; }
  // Multiprocessors of the GPU.
  virtual std::optional<int> multiprocessors() const { return std::nullopt; }
  // The name that CUDA_VISIBLE_DEVICES takes for it; empty: no GPU.
  virtual std::string gpu_uuid() const { return ""; }
  virtual nlohmann::json state() const;

 protected:
  // The system places pages in much the same sequence in each process. A buffer is moved by up to `most`
  // times `bytes`, the size of a page.
  struct Moves {
    std::size_t bytes, most;
  };

 private:
  virtual Buffer allocate_aligned(std::size_t bytes) = 0;
  virtual Moves moves() const = 0;

  std::uint64_t offset_seed_ = 0;
  std::uint64_t buffers_ = 0;  // allocated so far
  std::shared_ptr<std::atomic<std::size_t>> gap_bytes_ = std::make_shared<std::atomic<std::size_t>>(0);
};

// Its buffers are on `pages` (kernels/machine/host_memory.hpp).
std::unique_ptr<Device> open_cpu_device(int threads, PageSize pages = PageSize::standard);
// Throws EnvironmentError if there is no such GPU or this build has no CUDA code.
std::unique_ptr<Device> open_cuda_device(int ordinal);

}  // namespace hilbench
