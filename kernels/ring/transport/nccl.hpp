// Transport `nccl`: a rank is a GPU of this or another process, and the data are in its memory.
#pragma once

#include <memory>
#include <string>

#include "kernels/ring/transport/transport.hpp"

namespace hilbench {

// "" if NCCL can be loaded (the first call loads it), else why not and what to do. Needs no GPU.
std::string nccl_absence();
// "2.28.9". Call this and what follows only if nccl_absence() is empty.
std::string nccl_version();

// One end of a ring of GPUs, for the calling thread's current device; each rank has a GPU of its own.
// `control` connects the same ranks on the host (threads of a process, or processes of an MPI
// program) and carries what the ends agree on. All ranks call at the same time. Throws
// TransportError; then `control` is aborted.
//
// Exchanges run on a stream of their own. An exchange that does not complete within `timeout_s` of its start
// on the GPU is aborted, and stream 0 goes on without its data. Results are valid only if a barrier() passes
// after a synchronisation with the device.
// `blocks`: the most that NCCL's kernels have. A multiprocessor for each is enough for all of them to run.
// Exchanges that set flags need this. 0: as many as NCCL likes.
std::unique_ptr<Transport> nccl_transport(std::shared_ptr<Transport> control, double timeout_s,
                                          int blocks = 0);

}  // namespace hilbench
