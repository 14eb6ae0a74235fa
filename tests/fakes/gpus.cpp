// Fake GPUs, to run the program under mpirun on a machine without GPUs. HILBENCH_FAKE_GPUS sets their number
// (default 2), HILBENCH_FAKE_HOST a part of their names; if HILBENCH_FAKE_LOST is set, none opens. Their
// memory is the host's, their kernel is the CPU's, and MPI moves data instead of NCCL. Their name is "fake",
// so `hilbench check` refuses their records. This file replaces baselines/table.cpp and the files that call
// CUDA and NCCL.
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "baselines/table.hpp"
#include "harness/counters/cuda_driver.hpp"
#include "harness/device/device.hpp"
#include "harness/ring/rank_resources.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/cpu/dilated_cpu.hpp"
#include "kernels/ring/transport/nccl.hpp"
#include "tests/fakes/own_implementations.hpp"

namespace hilbench {
namespace {

class FakeGpu final : public Device {
 public:
  explicit FakeGpu(Gpu gpu) : gpu_(std::move(gpu)) {}
  void upload(const void* from, std::size_t bytes, Buffer& to, std::size_t offset) override {
    memory_->upload(from, bytes, to, offset);
  }
  void download(const Buffer& from, std::size_t offset, std::size_t bytes, void* to) override {
    memory_->download(from, offset, bytes, to);
  }
  void fill(Buffer& buffer, std::byte value) override { memory_->fill(buffer, value); }
  std::int64_t count_bad(const Buffer& buffer, Dtype dtype, NegativeInfinity negative) override {
    return memory_->count_bad(buffer, dtype, negative);
  }
  void negate(Buffer& buffer, Dtype dtype) override { memory_->negate(buffer, dtype); }
  void permute(const Buffer& from, Buffer& to, std::int64_t batch, std::span<const std::int32_t> slots,
               std::int64_t row_bytes, Direction direction) override {
    memory_->permute(from, to, batch, slots, row_bytes, direction);
  }
  double time_ns(const std::function<void()>& body, Clock clock, std::int64_t executions) override {
    return memory_->time_ns(body, clock, executions);
  }
  std::string_view name_of(Clock clock) const override { return memory_->name_of(clock); }
  void evict_caches() override {}
  void work(double ns) override { memory_->work(ns); }
  void observe() override { ++observed_; }
  std::optional<int> gpu_ordinal() const override { return gpu_.ordinal; }
  std::string gpu_uuid() const override { return gpu_.uuid; }
  nlohmann::json state() const override {
    return {{"uuid", gpu_.uuid}, {"observed", observed_}, {"foreign_processes", 0}};
  }

 private:
  Moves moves() const override { return {.bytes = std::size_t{2} << 20, .most = 3}; }
  Buffer allocate_aligned(std::size_t bytes) override { return memory_->allocate(bytes); }

  const Gpu gpu_;
  const std::unique_ptr<Device> memory_ = open_cpu_device(1);
  int observed_ = 0;
};

}  // namespace

int cuda_runtime_version() {
  return 13000;
}

GpuSurvey survey_gpus() {
  const char* count = std::getenv("HILBENCH_FAKE_GPUS");
  const char* host = std::getenv("HILBENCH_FAKE_HOST");
  GpuSurvey survey;
  for (int ordinal = 0; ordinal < (count != nullptr ? std::atoi(count) : 2); ++ordinal)
    survey.gpus.push_back({.ordinal = ordinal,
                           .name = "fake",
                           .uuid = fmt::format("GPU-{}{}", host != nullptr ? host : "", ordinal),
                           .compute_capability = 90,
                           .multiprocessors = 1,
                           .clock_ghz = 1,
                           .memory_bytes = std::int64_t{1} << 33});
  return survey;
}

std::unique_ptr<Device> open_cuda_device(int ordinal) {
  if (std::getenv("HILBENCH_FAKE_LOST") != nullptr)
    throw EnvironmentError({.what = "this GPU does not open"});
  CudaDriver::get().make_context();  // if libcuda.so.1 is fake too, counters count in it
  return std::make_unique<FakeGpu>(survey_gpus().gpus.at(static_cast<std::size_t>(ordinal)));
}

std::unique_ptr<RankResources> cuda_rank_resources(int, const std::vector<Device*>&, TransportKind, double,
                                                   EmulatedLink, int) {
  throw EnvironmentError({.what = "fake GPUs have a process each"});
}

std::unique_ptr<RankResources> cuda_rank_resources(std::shared_ptr<Transport> control, Device&, double, int) {
  control->barrier();  // all ranks join or none does, as with NCCL
  return cpu_rank_resources({std::move(control)}, 1);
}

std::string nccl_absence() {
  return "";
}

std::string nccl_version() {
  return "0.0.0";
}

std::span<const Implementation* const> implementation_table() {
  static const Implementation dilated = [] {
    Implementation implementation = kDilatedCpu;
    implementation.stream = nullptr;  // of processors
    implementation.name = "dilated";
    implementation.device = DeviceKind::cuda;
    return implementation;
  }();
  static const std::array table = {&dilated};
  return table;
}

}  // namespace hilbench
