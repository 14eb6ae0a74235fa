#include "kernels/ring/transport/table.hpp"

#include <array>

#include "kernels/ring/transport/mpi.hpp"
#include "kernels/ring/transport/nccl.hpp"
#include "kernels/ring/transport/peer.hpp"

namespace hilbench {
namespace {

constexpr auto kTransports = std::to_array<TransportInfo>({
    {"threads", "ranks are threads of this process", TransportMemory::host, [] { return std::string(); }},
    {"mpi", "ranks are processes that an MPI launcher started, on any hosts", TransportMemory::host,
     mpi_absence},
    {"peer", "ranks are GPUs of this process; copy engines move the data", TransportMemory::gpu,
     peer_absence},
    {"nccl", "ranks are GPUs of this process or of an MPI program, on any hosts", TransportMemory::gpu,
     nccl_absence},
});

}  // namespace

std::span<const TransportInfo> transports() {
  return kTransports;
}

}  // namespace hilbench
