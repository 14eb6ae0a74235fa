// Transport `peer`: the ranks are threads of this process, the data are in the memory of its GPUs. Copy
// engines move them over NVLink or PCIe, so that no multiprocessor is taken from a computation.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/ring/transport/transport.hpp"

namespace hilbench {

// "" where this build has CUDA, else why not and what to do.
std::string peer_absence();

// The ends of a ring with a rank for each of `devices`, each for a thread of its own whose current device
// that is; ranks may share one. wait() returns when the other ends have posted, before the data have moved.
// Throws cuda::CudaError, also from the transports' calls.
std::vector<std::unique_ptr<Transport>> peer_transports(const std::vector<int>& devices, double timeout_s);

}  // namespace hilbench
