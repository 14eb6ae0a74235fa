// Each rank is timed by events of its own GPU. Host threads wake up tens of microseconds apart. So a kernel
// holds back every GPU while the ranks enqueue a run, and no GPU starts before all are released. This times
// the slowest GPU, without the host. GPUs of different processes tell each other that they are released.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "harness/ring/rank_resources.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/cuda/runtime/blocking_kernel.hpp"
#include "kernels/cuda/runtime/device_memory.hpp"
#include "kernels/cuda/runtime/event.hpp"
#include "kernels/cuda/runtime/status.hpp"
#include "kernels/cuda/runtime/stream.hpp"
#include "kernels/ring/transport/nccl.hpp"
#include "kernels/ring/transport/peer.hpp"
#include "kernels/ring/transport/threads.hpp"

namespace hilbench {
namespace {

using HostClock = std::chrono::steady_clock;

constexpr double kLeastHoldNs = 60e3;
constexpr double kMostHoldNs = 5e6;  // enough for the first run, which loads code
constexpr double kHoldMargin = 1.5;  // times the longest enqueueing among the last runs

int ordinal_of(const Device& device) {
  const std::optional<int> ordinal = device.gpu_ordinal();
  if (!ordinal) throw EnvironmentError({.what = "a ring of GPUs on a device that is none"});
  return *ordinal;
}

std::size_t free_bytes(int ordinal) {
  const cuda::CurrentDevice current(ordinal);
  std::size_t free = 0, total = 0;
  HILBENCH_CUDA(cudaMemGetInfo(&free, &total));
  return free;
}

// A GPU with one or several ranks.
struct RingGpu {
  explicit RingGpu(Device& on)
      : device(on),
        ordinal(ordinal_of(on)),
        free_bytes_before(free_bytes(ordinal)),
        gap_bytes_before(on.gap_bytes()) {
    int khz = 0;
    HILBENCH_CUDA(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, ordinal));
    clock_ghz = std::max(1.0, khz * 1e-6);
  }
  // By how much free memory fell, without the gaps that buffers are moved by.
  double taken_bytes() const {
    const double fell = static_cast<double>(free_bytes_before) - static_cast<double>(free_bytes(ordinal));
    return fell - (static_cast<double>(device.gap_bytes()) - static_cast<double>(gap_bytes_before));
  }
  Device& device;
  int ordinal;
  std::size_t free_bytes_before, gap_bytes_before;
  double clock_ghz = 1;
  std::mutex use;
};

// Times a rank on its own GPU.
struct RankClock {
  cuda::Event begin, end;
  cuda::Mark held;                     // set when the GPU is released
  cuda::DeviceMemory<std::byte> told;  // between processes: the byte to send, then one byte from each rank
  HostClock::time_point enqueues;
  std::array<double, 4> enqueued_ns = {};  // time to enqueue each of the last runs
  std::size_t runs = 0;

  double hold_ns() const {
    const double longest = *std::max_element(enqueued_ns.begin(), enqueued_ns.end());
    return std::clamp(kHoldMargin * longest, kLeastHoldNs, kMostHoldNs);
  }
};

class CudaRankResources final : public RankResources {
 public:
  CudaRankResources(int ranks, const std::vector<Device*>& devices, TransportKind transport, double timeout_s,
                    EmulatedLink link, int nccl_blocks)
      : nccl_(transport == TransportKind::nccl), timeout_s_(timeout_s), nccl_blocks_(nccl_blocks) {
    for (Device* device : devices) gpus_.push_back(std::make_unique<RingGpu>(*device));
    for (int rank = 0; rank < ranks; ++rank)
      ranks_.push_back({.device = devices[static_cast<std::size_t>(rank) % devices.size()]});
    clocks_.resize(ranks_.size());
    for (auto& end :
         nccl_ ? thread_transports(ranks, timeout_s) : peer_transports(ordinals(), timeout_s, link))
      control_.push_back(std::move(end));
  }
  CudaRankResources(std::shared_ptr<Transport> control, Device& device, double timeout_s, int nccl_blocks)
      : nccl_(true), timeout_s_(timeout_s), nccl_blocks_(nccl_blocks), alone_(control->size() > 1) {
    gpus_.push_back(std::make_unique<RingGpu>(device));
    ranks_.push_back({.device = &device});
    clocks_.resize(1);
    control_.push_back(std::move(control));
  }

  void join(int rank) override {
    HILBENCH_CUDA(cudaSetDevice(gpu_of(rank).ordinal));
    of(rank).transport = std::move(control_[static_cast<std::size_t>(rank)]);
    if (nccl_) of(rank).transport = nccl_transport(of(rank).transport, timeout_s_, nccl_blocks_);
    of(rank).ring_device = cuda_ring_device();
    auto& own = clocks_[static_cast<std::size_t>(rank)] = std::make_unique<RankClock>();
    if (alone_)
      own->told = cuda::DeviceMemory<std::byte>(
          std::vector<std::byte>(static_cast<std::size_t>(transport(rank).size()) + 1));
    transport(rank).barrier();  // now every rank has its clock
  }

  void leave(int rank) noexcept override {
    of(rank).ring_device.reset();
    of(rank).transport.reset();
    clocks_[static_cast<std::size_t>(rank)].reset();
  }

  void abort(int rank, const std::string& why) noexcept override {
    for (Transport* end : {of(rank).transport.get(), control_[static_cast<std::size_t>(rank)].get()})
      if (end != nullptr) end->abort(why);
  }

  void start(int rank) override {
    RankClock& own = clock_of(rank);
    cuda::hold(static_cast<std::int64_t>(own.hold_ns() * gpu_of(rank).clock_ghz), nullptr);
    if (alone_) {
      own.enqueues = HostClock::now();
      meet(rank);
      own.begin.record();
      return;
    }
    own.held.set(nullptr);
    transport(rank).barrier();
    for (const auto& other : clocks_) other->held.hold(nullptr);
    own.begin.record();
    own.enqueues = HostClock::now();
  }

  void stop(int rank) override {
    RankClock& own = clock_of(rank);
    own.end.record();
    own.enqueued_ns[own.runs++ % own.enqueued_ns.size()] =
        std::chrono::duration<double, std::nano>(HostClock::now() - own.enqueues).count();
    HILBENCH_CUDA(cudaDeviceSynchronize());
    transport(rank).barrier();
  }

  // Times count from the begin of the first rank on the same GPU: the ranks of a GPU share one stream.
  std::pair<std::int64_t, std::int64_t> span(int rank) override {
    const cuda::CurrentDevice current(gpu_of(rank).ordinal);
    const cuda::Event& origin = clock_of(first_on_gpu_of(rank)).begin;
    return {std::llround(clock_of(rank).begin.ns_since(origin)),
            std::llround(clock_of(rank).end.ns_since(origin))};
  }
  std::string clock(int rank) const override { return "cuda:" + std::to_string(gpu_of(rank).ordinal); }

  std::unique_lock<std::mutex> exclusive(int rank) override { return std::unique_lock(gpu_of(rank).use); }
  bool counts(int rank) const override { return first_on_gpu_of(rank) == rank; }
  std::string timer() const override { return "cuda_events"; }
  int devices() const override { return std::min(ranks(), static_cast<int>(gpus_.size())); }
  nlohmann::json describe() const override {
    return {{"name", nccl_ ? "nccl" : "peer"},
            {"version", nccl_ ? nlohmann::json(nccl_version()) : nlohmann::json()},
            {"devices", ordinals()}};
  }

  double device_bytes() override {
    double most = 0;
    for (const auto& gpu : gpus_) most = std::max(most, gpu->taken_bytes());
    return most;
  }

 private:
  // The GPU continues when every other GPU has told it that it is released. Each GPU is held back until its
  // own host has enqueued the run, so from here on none waits for a host.
  void meet(int rank) {
    Transport& ring = transport(rank);
    std::byte* const told = clock_of(rank).told.data();
    std::vector<Transport::Message> sends, receives;
    for (int peer = 0; peer < ring.size(); ++peer) {
      if (peer == ring.rank()) continue;
      sends.push_back({peer, told, 1});
      receives.push_back({peer, told + 1 + peer, 1});
    }
    ring.post(sends, receives);
    ring.wait();
  }

  Rank& of(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }
  RankClock& clock_of(int rank) { return *clocks_[static_cast<std::size_t>(rank)]; }
  RingGpu& gpu_of(int rank) const { return *gpus_[static_cast<std::size_t>(rank) % gpus_.size()]; }
  int first_on_gpu_of(int rank) const {
    int first = 0;
    while (&gpu_of(first) != &gpu_of(rank)) ++first;
    return first;
  }
  std::vector<int> ordinals() const {
    std::vector<int> all;
    for (int rank = 0; rank < ranks(); ++rank) all.push_back(gpu_of(rank).ordinal);
    return all;
  }

  const bool nccl_;
  const double timeout_s_;
  const int nccl_blocks_;
  const bool alone_ = false;  // the other ranks are in other processes
  std::vector<std::unique_ptr<RingGpu>> gpus_;
  std::vector<std::unique_ptr<RankClock>> clocks_;
  std::vector<std::shared_ptr<Transport>> control_;  // moves to a rank when it joins
};

}  // namespace

std::unique_ptr<RankResources> cuda_rank_resources(int ranks, const std::vector<Device*>& devices,
                                                   TransportKind transport, double timeout_s,
                                                   EmulatedLink link, int nccl_blocks) {
  return std::make_unique<CudaRankResources>(ranks, devices, transport, timeout_s, link, nccl_blocks);
}

std::unique_ptr<RankResources> cuda_rank_resources(std::shared_ptr<Transport> control, Device& device,
                                                   double timeout_s, int nccl_blocks) {
  return std::make_unique<CudaRankResources>(std::move(control), device, timeout_s, nccl_blocks);
}

}  // namespace hilbench
