// Resources of the ranks in this process: one device, transport and clock per rank.
#pragma once

#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "harness/device/device.hpp"
#include "kernels/case/variant.hpp"
#include "kernels/ring/ring_device.hpp"
#include "kernels/ring/transport/outer_link.hpp"
#include "kernels/ring/transport/transport.hpp"

namespace hilbench {

class RankResources {
 public:
  virtual ~RankResources() = default;
  // Every rank calls these from its own thread. All ranks call join() at the same time, before anything else.
  // They also call leave() at the same time, after they have freed what they took from these resources. Ranks
  // are numbered from 0 here; in their ring they may have other numbers. join() throws TransportError or
  // EnvironmentError.
  virtual void join(int rank) = 0;
  virtual void leave(int rank) noexcept = 0;
  // Ends the ring for all ranks, whether they have joined or not.
  virtual void abort(int rank, const std::string& why) noexcept = 0;
  Transport& transport(int rank) { return *ranks_[static_cast<std::size_t>(rank)].transport; }
  RingDevice& ring_device(int rank) { return *ranks_[static_cast<std::size_t>(rank)].ring_device; }
  // start() and stop() time what the rank does between them; all ranks call both. span() gives begin and end
  // in ns of the rank's clock(). It stays valid until the next start(). Spans of other ranks may be read
  // after all have stopped.
  virtual void start(int rank) = 0;
  virtual void stop(int rank) = 0;
  virtual std::pair<std::int64_t, std::int64_t> span(int rank) = 0;
  virtual std::string clock(int rank) const = 0;  // times of clocks with the same name can be compared

  // Ranks may share a device. So a rank uses it only while it holds the lock of exclusive().
  Device& device(int rank) { return *ranks_[static_cast<std::size_t>(rank)].device; }
  virtual std::unique_lock<std::mutex> exclusive(int rank) = 0;
  // True if this rank counts the work of its device. Of several ranks on one device, one counts for all.
  virtual bool counts(int /*rank*/) const { return true; }
  virtual std::string timer() const = 0;
  int ranks() const { return static_cast<int>(ranks_.size()); }
  virtual int devices() const = 0;              // number of devices that the ranks use
  virtual nlohmann::json describe() const = 0;  // for the record
  // The most memory in bytes that a device lost since this object was made, without Device::gap_bytes();
  // 0 if unknown.
  virtual double device_bytes() { return 0; }

 protected:
  struct Rank {
    std::shared_ptr<Transport> transport;
    Device* device = nullptr;
    std::unique_ptr<RingDevice> ring_device;
  };
  std::vector<Rank> ranks_;
};

// If a rank hangs for longer, the other ranks give up.
constexpr double kRingTimeout_s = 3600;

// Resources on the CPU for one rank at each of these `ends` of a ring. What they allocate is on `pages`.
std::unique_ptr<RankResources> cpu_rank_resources(std::vector<std::shared_ptr<Transport>> ends,
                                                  int threads_per_rank, PageSize pages = PageSize::standard);

// Resources on GPUs: rank k uses devices[k modulo their number]. Ranks exchange data over `peer` or, if each
// has its own device, `nccl`. Nothing else may use the devices at the same time, and they must outlive the
// result. Only `peer` emulates a link. `nccl_blocks`: as nccl_transport().
std::unique_ptr<RankResources> cuda_rank_resources(int ranks, const std::vector<Device*>& devices,
                                                   TransportKind transport, double timeout_s = kRingTimeout_s,
                                                   EmulatedLink link = {}, int nccl_blocks = 0);

// Resources for one rank on a GPU; the other ranks are in other processes, and data moves over `nccl`.
// `control` joins the same processes on the host. It may serve several rings, one after the other.
std::unique_ptr<RankResources> cuda_rank_resources(std::shared_ptr<Transport> control, Device& device,
                                                   double timeout_s, int nccl_blocks = 0);

}  // namespace hilbench
