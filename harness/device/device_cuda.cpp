#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "baselines/peak/device_peak.hpp"
#include "harness/device/device.hpp"
#include "harness/device/kernel_times.hpp"
#include "harness/device/nvml.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/cuda/runtime/blocking_kernel.hpp"
#include "kernels/cuda/runtime/device_memory.hpp"
#include "kernels/cuda/runtime/event.hpp"
#include "kernels/cuda/runtime/flush_l2.hpp"
#include "kernels/cuda/runtime/pinned_memory.hpp"
#include "kernels/cuda/runtime/stream.hpp"
#include "kernels/cuda/shared/permute.hpp"
#include "kernels/cuda/shared/value_bits.hpp"
#include "kernels/machine/gpu.hpp"

namespace hilbench {
namespace {

// Events cost microseconds themselves: shorter executions are timed by CUPTI's activity records.
constexpr double kFineBelowNs = 20e3;
// The stream is blocked while start, work and end are enqueued, so that no host latency is timed.
constexpr double kHoldNs = 40e3;
constexpr std::int64_t kHeldExecutions = 50;  // of a batch: the queue of launches is finite
constexpr double kFineHoldNs = 120e3;         // each launch takes longer while activity is recorded
constexpr double kWarmUpNs = 100e6;           // clocks rise from idle within tens of milliseconds
constexpr std::int64_t kEvictionFactor = 4;   // this many times the L2's size is read to evict its contents

// Makes the device's context current for the rest of the process.
struct Context {
  explicit Context(int ordinal) {
    HILBENCH_CUDA(cudaSetDevice(ordinal));
    HILBENCH_CUDA(cudaFree(nullptr));
  }
};

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(const Gpu& gpu) : gpu_(gpu), monitor_(gpu.uuid), context_(gpu.ordinal) {}

  Moves moves() const override { return {.bytes = std::size_t{2} << 20, .most = 3}; }
  Buffer allocate_aligned(std::size_t bytes) override {
    auto memory = std::make_shared<cuda::DeviceMemory<std::byte>>(std::max<std::size_t>(bytes, 1));
    return {.memory = std::shared_ptr<void>(memory, memory->data()), .bytes = bytes};
  }
  // Ordinary memory does too if the system cannot pin more.
  Buffer allocate_host(std::size_t bytes) override {
    try {
      auto memory = std::make_shared<cuda::PinnedMemory<std::byte>>(bytes);
      return {.memory = std::shared_ptr<void>(memory, memory->data()), .bytes = bytes};
    } catch (const cuda::CudaError&) {
      cudaGetLastError();  // clears the error, which the next checked launch would report
      return Device::allocate_host(bytes);
    }
  }
  void upload(const void* from, std::size_t bytes, Buffer& to, std::size_t offset) override {
    HILBENCH_CUDA(
        cudaMemcpy(static_cast<std::byte*>(to.data()) + offset, from, bytes, cudaMemcpyHostToDevice));
  }
  void download(const Buffer& from, std::size_t offset, std::size_t bytes, void* to) override {
    HILBENCH_CUDA(
        cudaMemcpy(to, static_cast<const std::byte*>(from.data()) + offset, bytes, cudaMemcpyDeviceToHost));
  }
  void fill(Buffer& buffer, std::byte value) override {
    HILBENCH_CUDA(cudaMemset(buffer.data(), std::to_integer<int>(value), buffer.bytes));
  }

  std::int64_t count_bad(const Buffer& buffer, Dtype dtype, NegativeInfinity negative) override {
    return cuda::count_bad_values(buffer.data(), element_bits(dtype), elements(buffer, dtype),
                                  negative == NegativeInfinity::allowed, bad_.data(), nullptr);
  }
  void negate(Buffer& buffer, Dtype dtype) override {
    cuda::negate_values(buffer.data(), element_bits(dtype), elements(buffer, dtype), nullptr);
  }

  void permute(const Buffer& from, Buffer& to, std::int64_t batch, std::span<const std::int32_t> slots,
               std::int64_t row_bytes, Direction direction) override {
    if (map_.size() != slots.size() || !std::equal(slots.begin(), slots.end(), map_.begin())) {
      map_.assign(slots.begin(), slots.end());
      device_map_ = cuda::DeviceMemory<std::int32_t>(map_);
    }
    const auto move =
        direction == Direction::into_order ? cuda::RowMove::to_slots : cuda::RowMove::to_positions;
    cuda::permute_rows(from.data(), to.data(), batch, static_cast<std::int64_t>(slots.size()),
                       device_map_.data(), row_bytes, move, nullptr);
  }

  double time_ns(const std::function<void()>& body, Clock clock, std::int64_t executions) override {
    if (clock == Clock::fine) return fine_time_ns(body, executions);
    hold(kHoldNs * static_cast<double>(std::min(executions, kHeldExecutions)));
    start_.record();
    for (std::int64_t i = 0; i < executions; ++i) body();
    end_.record();
    return end_.ns_since(start_) / static_cast<double>(executions);
  }

  Clock clock_for(double estimate_ns) const override {
    return estimate_ns < kFineBelowNs && kernel_times_absence().empty() ? Clock::fine : Clock::ordinary;
  }
  std::string_view name_of(Clock clock) const override {
    return clock == Clock::fine ? kKernelRecords : "cuda_events";
  }
  void work(double ns) override { hold(ns); }
  double warm_up_ns() const override { return kWarmUpNs; }

  void synchronize() override { HILBENCH_CUDA(cudaDeviceSynchronize()); }

  // An error that remains after a call that cannot fail itself means that the context is unusable.
  bool lost() const override {
    const cudaError_t earlier = cudaGetLastError();
    try {
      const cuda::CurrentDevice current(gpu_.ordinal);
      return cudaDeviceSynchronize() != cudaSuccess ||
             (earlier != cudaSuccess && cudaFree(nullptr) != cudaSuccess);
    } catch (const cuda::CudaError&) {
      return true;
    }
  }

  void evict_caches() override {
    if (scratch_.size() == 0) {
      scratch_ = cuda::DeviceMemory<std::byte>(static_cast<std::size_t>(kEvictionFactor * gpu_.l2_bytes));
      HILBENCH_CUDA(cudaMemset(scratch_.data(), 1, scratch_.size()));
    }
    cuda::read_through(scratch_.data(), scratch_.size(), nullptr);
    synchronize();
  }

  std::optional<double> peak_flops(std::string_view unit, double suspect) override {
    constexpr double kLook_s = 0.05;
    constexpr int kAttempts = 10;
    const auto rate = unit == "fp32_fma"      ? &cuda::DevicePeak::fp32_fma_flops
                      : unit == "bf16_tensor" ? &cuda::DevicePeak::bf16_tensor_flops
                      : unit == "fp16_tensor" ? &cuda::DevicePeak::fp16_tensor_flops
                                              : nullptr;
    double peak = 0;  // stays 0 if the device has no such unit, or if its peak cannot be measured
    for (int attempt = 0; rate != nullptr && (attempt == 0 || (attempt < kAttempts && peak < suspect));
         ++attempt)
      peak = std::max(peak, cuda::measure_device_peak(kLook_s).*rate);
    return peak > 0 ? std::optional(peak) : std::nullopt;
  }

  void profile(const std::function<void()>& body) override {
    HILBENCH_CUDA(cudaProfilerStart());
    body();
    synchronize();
    HILBENCH_CUDA(cudaProfilerStop());
  }

  void observe() override { monitor_.observe(); }
  EnergyReading energy() override { return monitor_.energy(); }
  std::optional<double> busy_share(const std::function<void()>& body) override {
    return monitor_.busy_share(body);
  }
  std::optional<int> gpu_ordinal() const override { return gpu_.ordinal; }
  std::optional<int> multiprocessors() const override { return gpu_.multiprocessors; }
  std::string gpu_uuid() const override { return gpu_.uuid; }
  nlohmann::json state() const override { return monitor_.summary(); }

 private:
  // Activity records are exact for each execution, and launches are too slow meanwhile for a batch without
  // gaps. So each execution is timed alone.
  double fine_time_ns(const std::function<void()>& body, std::int64_t executions) {
    double sum = 0;
    for (std::int64_t i = 0; i < executions; ++i)
      sum += kernel_time_ns([&] {
        hold(kFineHoldNs);
        body();
        synchronize();
      });
    return sum / static_cast<double>(executions);
  }

  static cuda::ElementBits element_bits(Dtype dtype) {
    if (dtype == Dtype::fp32) return cuda::ElementBits::fp32;
    return dtype == Dtype::bf16 ? cuda::ElementBits::bf16 : cuda::ElementBits::fp16;
  }
  static std::int64_t elements(const Buffer& buffer, Dtype dtype) {
    return static_cast<std::int64_t>(buffer.bytes) / dtype_bytes(dtype);
  }

  void hold(double ns) const {
    cuda::hold(static_cast<std::int64_t>(ns * std::max(gpu_.clock_ghz, 1.0)), nullptr);
  }

  Gpu gpu_;
  GpuMonitor monitor_;  // must look for foreign processes before the context is created
  Context context_;
  cuda::Event start_, end_;
  std::vector<std::int32_t> map_;  // the contents of device_map_
  cuda::DeviceMemory<std::int32_t> device_map_;
  cuda::DeviceMemory<std::byte> scratch_;
  cuda::DeviceMemory<unsigned long long> bad_{1};
};

}  // namespace

std::unique_ptr<Device> open_cuda_device(int ordinal) {
  const GpuSurvey survey = survey_gpus();
  if (!survey.absence.empty()) throw EnvironmentError({.what = "no CUDA device", .why = survey.absence});
  if (ordinal < 0 || static_cast<std::size_t>(ordinal) >= survey.gpus.size())
    throw EnvironmentError({.what = fmt::format("no CUDA device {}", ordinal),
                            .why = fmt::format("there are {}", survey.gpus.size()),
                            .remedy = "see `hilbench list devices`"});
  return std::make_unique<CudaDevice>(survey.gpus[static_cast<std::size_t>(ordinal)]);
}

}  // namespace hilbench
