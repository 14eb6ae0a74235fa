#include "harness/plan/ring_reasons.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "kernels/ring/ring.hpp"
#include "kernels/ring/transport/mpi.hpp"
#include "kernels/ring/transport/nccl.hpp"
#include "kernels/ring/transport/peer.hpp"

namespace hilbench {
namespace {

// For processes of a launcher: rank k uses the GPU of process k.
Refusal why_not_gpus_of_processes(const Case& work, const Site& site) {
  if (work.ring_size > site.processes)
    return fmt::format("ring_size {}: the launcher started {} processes", work.ring_size, site.processes);
  if (work.ring_size > site.gpus) return fmt::format("ring_size {}: {}", work.ring_size, site.no_further_gpu);
  return std::nullopt;
}

// For GPUs of one process: rank k uses the k-th GPU after the chosen one.
Refusal why_not_gpus(const Measure& measure, const Case& work, TransportKind transport, const Site& site) {
  if (transport == TransportKind::threads || transport == TransportKind::mpi)
    return "moves host memory, this case runs on GPUs";
  if (transport == TransportKind::peer && site.processes > 1)
    return "copies between GPUs of one process; under a launcher each process has one GPU: use nccl";
  if (std::string absence = transport == TransportKind::nccl ? nccl_absence() : peer_absence();
      !absence.empty())
    return absence;
  if (measure.cache == CacheState::cold) return "the GPUs of a ring keep their caches: cache must be warm";
  if (site.processes > 1) return why_not_gpus_of_processes(work, site);
  if (work.ring_size <= site.gpus) return std::nullopt;
  if (transport == TransportKind::nccl)
    return fmt::format("ring_size {}: it needs one GPU for each rank, and there are {}", work.ring_size,
                       site.gpus);
  if (!measure.oversubscribe)
    return fmt::format("ring_size {}: {} GPU{} here, and measure.oversubscribe is false", work.ring_size,
                       site.gpus, site.gpus == 1 ? "" : "s");
  return std::nullopt;
}

// Two GPUs of the ring that cannot access each other's memory, if there are any.
std::optional<std::pair<int, int>> unlinked_in_ring(const Case& work, const Site& site) {
  const int first = site.gpu ? site.gpu->ordinal : 0;
  const auto in_ring = [&](int ordinal) {
    return (ordinal - first + site.gpus) % site.gpus < work.ring_size;
  };
  for (const auto& pair : site.unlinked)
    if (in_ring(pair.first) && in_ring(pair.second)) return pair;
  return std::nullopt;
}

// A launch that needs keys of other ranks waits for words that their GPUs write.
Refusal why_not_launch(const Ring& ring, const Site& site) {
  const TransportKind transport = ring.variant().ring.transport;
  if (!ring.persistent() || transport != TransportKind::peer) return std::nullopt;
  const auto unlinked = unlinked_in_ring(ring.work(), site);
  if (!unlinked) return std::nullopt;
  return fmt::format("transport {}: ring_launch persistent: GPUs {} and {} cannot access each other's memory",
                     to_string(transport), unlinked->first, unlinked->second);
}

// For ranks that are processes, which only a launcher starts.
Refusal why_not_processes(const Case& work, const Site& site) {
  if (std::string absence = mpi_absence(); !absence.empty()) return absence;
  if (site.processes == 1)
    return fmt::format("its ranks are processes: start them with mpirun -n {} hilbench run ...",
                       work.ring_size);
  if (work.ring_size > site.processes)
    return fmt::format("ring_size {}: the launcher started {} processes", work.ring_size, site.processes);
  return std::nullopt;
}

Refusal why_not_transport(const Measure& measure, const Case& work, const Variant& variant,
                          const Site& site) {
  const TransportKind transport = transport_of(work, variant, site);
  std::optional<std::string> reason;
  if (work.device == DeviceKind::cuda)
    reason = why_not_gpus(measure, work, transport, site);
  else if (transport == TransportKind::nccl || transport == TransportKind::peer)
    reason = "moves memory of GPUs, this case runs on the CPU";
  else if (transport == TransportKind::mpi)
    reason = why_not_processes(work, site);
  if (!reason && variant.ring.outer_link == OuterLink::emulated_host && transport != TransportKind::threads &&
      transport != TransportKind::peer)
    reason = "its ranks reach each other by a network of their own; threads and peer emulate outer_link";
  if (!reason) return std::nullopt;
  return fmt::format("transport {}: {}", to_string(transport), *reason);
}

// How many hosts the ranks of a ring are on, if those of a host are neighbours and every host has as many;
// else 0.
std::int64_t groups_of_hosts(const std::vector<int>& hosts, std::int64_t ranks) {
  if (ranks > std::ssize(hosts)) return 0;
  const auto end = hosts.begin() + ranks;
  const std::int64_t size =
      std::find_if(hosts.begin(), end, [&](int host) { return host != hosts[0]; }) - hosts.begin();
  if (size == ranks || ranks % size != 0) return 0;
  std::set<int> seen;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    const int host = hosts[static_cast<std::size_t>(rank)];
    if (rank % size == 0 ? !seen.insert(host).second : host != hosts[static_cast<std::size_t>(rank - 1)])
      return 0;
  }
  return ranks / size;
}

bool ranks_are_processes(const Case& work, const Variant& variant, const Site& site) {
  const TransportKind transport = transport_of(work, variant, site);
  return transport == TransportKind::mpi || transport == TransportKind::nccl;
}

// For ranks of several hosts that are no groups.
Refusal why_not_hosts(const Case& work, const Variant& variant, const Site& site) {
  if (variant.ring.algorithm != RingAlgorithm::hierarchical || variant.ring.groups != 0 ||
      !ranks_are_processes(work, variant, site) || work.ring_size > std::ssize(site.hosts))
    return std::nullopt;
  const auto end = site.hosts.begin() + work.ring_size;
  if (std::equal(site.hosts.begin() + 1, end, site.hosts.begin())) return std::nullopt;
  return "hierarchical needs as many ranks on each host, one host after another: start the processes so, or "
         "name ring_groups";
}

// True if copies between two GPUs of the ring would go through the host unasked, and NCCL is here. NCCL needs
// a GPU for each rank.
bool nccl_is_better(const Case& work, const Variant& variant, const Site& site) {
  if (site.processes > 1 || work.device != DeviceKind::cuda || work.ring_size > site.gpus) return false;
  if (variant.ring.outer_link == OuterLink::emulated_host || !nccl_absence().empty()) return false;
  return unlinked_in_ring(work, site).has_value();
}

}  // namespace

Variant on_site(const Case& work, Variant variant, const Site& site) {
  if (work.ring_size == 1) return variant;
  if (variant.ring.groups == 0 && ranks_are_processes(work, variant, site))
    variant.ring.groups = groups_of_hosts(site.hosts, work.ring_size);
  variant.ring.transport = transport_of(work, variant, site);
  return variant;
}

bool has_ring_here(const Variant& variant) {
  return !variant.is_baseline() || variant.ring.algorithm != RingAlgorithm::automatic;
}

TransportKind transport_of(const Case& work, const Variant& variant, const Site& site) {
  const bool launched = site.processes > 1;
  TransportKind transport = variant.ring.transport;
  if (transport == TransportKind::automatic && work.device == DeviceKind::cuda)
    transport = launched ? TransportKind::nccl : TransportKind::peer;
  else if (transport == TransportKind::automatic)
    transport = launched ? TransportKind::mpi : TransportKind::threads;
  return transport == TransportKind::peer && nccl_is_better(work, variant, site) ? TransportKind::nccl
                                                                                 : transport;
}

PlannedRing plan_ring(const Case& work, const Variant& variant, const Site& site) {
  PlannedRing planned;
  if (work.ring_size == 1 || has_windows(work) || !has_ring_here(variant)) return planned;
  const Variant here = on_site(work, variant, site);
  planned.why_not = why_not_ring(work, here);
  if (!planned.why_not) planned.ring.emplace(work, here);
  return planned;
}

Refusal why_not_ring_here(const Measure& measure, const Case& work, const Variant& variant,
                          const PlannedRing& planned, const Site& site) {
  if (!has_ring_here(variant))
    return fmt::format("ring_size {}: {} runs on one rank", work.ring_size, variant.name());
  if (Refusal reason = why_not_transport(measure, work, variant, site)) return reason;
  if (variant.kernel().buffers == Buffers::fresh) return "a ring keeps its buffers: buffers must be pooled";
  if (variant.kernel().index == IndexUse::computed)
    return "a ring keeps the indices of its pieces: index must be cached";
  if (on_site(work, variant, site).ring.groups == 0)
    if (Refusal reason = why_not_hosts(work, variant, site)) return reason;
  return planned.ring ? why_not_launch(*planned.ring, site) : planned.why_not;
}

}  // namespace hilbench
