// Transport `peer`: ranks are threads of this process, and the data are in the memory of its GPUs. Copy
// engines move messages over NVLink or PCIe, so that the computation keeps all multiprocessors, or a kernel
// if nothing is computed meanwhile (Transport::Mover).
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/ring/transport/outer_link.hpp"
#include "kernels/ring/transport/transport.hpp"

namespace hilbench {

// "" if this build has CUDA, else why not and what to do.
std::string peer_absence();

// The ends of a ring with one rank per entry of `devices`, each for a thread of its own that has this device
// current; ranks may share a device. wait() returns when the other ends have posted, before the data have
// moved. These and the transports' calls throw cuda::CudaError.
// What crosses the link is copied through pinned host memory.
std::vector<std::unique_ptr<Transport>> peer_transports(const std::vector<int>& devices, double timeout_s,
                                                        EmulatedLink link = {});

// Pairs of these devices of which one cannot access the memory of the other: copies between them go through
// the host. Throws cuda::CudaError.
std::vector<std::pair<int, int>> unlinked_gpus(const std::vector<int>& devices);

}  // namespace hilbench
