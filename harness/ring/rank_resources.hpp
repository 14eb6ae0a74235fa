// What the ranks of a ring in this process lie on: a device, a transport and a clock each.
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
#include "kernels/ring/transport/transport.hpp"

namespace hilbench {

class RankResources {
 public:
  virtual ~RankResources() = default;
  // These are called by every rank's own thread. All ranks join() at the same time, before anything else, and
  // leave() so, after what they hold of it is gone. Throws TransportError, EnvironmentError. It
  // numbers its ranks from 0; in their ring they may have other numbers.
  virtual void join(int rank) = 0;
  virtual void leave(int rank) noexcept = 0;
  // Ends the ring for all ranks, whether they have joined or not.
  virtual void abort(int rank, const std::string& why) noexcept = 0;
  Transport& transport(int rank) { return *ranks_[static_cast<std::size_t>(rank)].transport; }
  RingDevice& ring_device(int rank) { return *ranks_[static_cast<std::size_t>(rank)].ring_device; }
  // What the rank does between the two is timed: span() is when it began and ended, in ns of its clock().
  // All ranks call both. The spans stay until the next start(); others may be read once all have stopped.
  virtual void start(int rank) = 0;
  virtual void stop(int rank) = 0;
  virtual std::pair<std::int64_t, std::int64_t> span(int rank) = 0;
  virtual std::string clock(int rank) const = 0;  // those of the same name compare

  // To be had by one rank at a time, with the lock on it: ranks may share a device.
  Device& device(int rank) { return *ranks_[static_cast<std::size_t>(rank)].device; }
  virtual std::unique_lock<std::mutex> exclusive(int rank) = 0;
  // Whether counters of this rank see what no other rank's do: of the ranks on a device one counts it all.
  virtual bool counts(int /*rank*/) const { return true; }
  virtual std::string timer() const = 0;
  int ranks() const { return static_cast<int>(ranks_.size()); }
  virtual int devices() const = 0;              // over which the ranks are spread
  virtual nlohmann::json describe() const = 0;  // for the record
  // Most bytes that a device lost to this process since this was made; 0: not told.
  virtual double device_bytes() { return 0; }

 protected:
  struct Rank {
    std::shared_ptr<Transport> transport;
    Device* device = nullptr;
    std::unique_ptr<RingDevice> ring_device;
  };
  std::vector<Rank> ranks_;
};

// A rank that hangs longer is ended by the others.
constexpr double kRingTimeout_s = 3600;

// A rank at each of these ends of a ring, with so many threads of its own.
std::unique_ptr<RankResources> cpu_rank_resources(std::vector<std::shared_ptr<Transport>> ends,
                                                  int threads_per_rank);

// Rank k on `devices[k modulo their number]`, over `peer` or, with one rank a device, `nccl`. The devices are
// GPUs, are not used by others at the same time, and outlive it.
std::unique_ptr<RankResources> cuda_rank_resources(int ranks, const std::vector<Device*>& devices,
                                                   TransportKind transport,
                                                   double timeout_s = kRingTimeout_s);

// One rank, on a GPU, of a ring of GPUs of several processes over `nccl`; `control` joins the same processes
// on the host, and may serve several rings, one after the other.
std::unique_ptr<RankResources> cuda_rank_resources(std::shared_ptr<Transport> control, Device& device,
                                                   double timeout_s);

}  // namespace hilbench
