// Transport `nccl`: a rank is a GPU, of this process or of others; the data are in its memory.
#pragma once

#include <memory>
#include <string>

#include "kernels/ring/transport/transport.hpp"

namespace hilbench {

// "" where NCCL can be loaded, which the first call does, else why not and what to do. Needs no GPU.
std::string nccl_absence();
// "2.28.9". This and what follows need nccl_absence() empty.
std::string nccl_version();

// One end of a ring of GPUs, for the calling thread's current device: a GPU has one rank. `control` joins the
// same ranks on the host (threads of a process, or processes of an MPI program); what the ends agree on goes
// there. All ranks call at the same time. Throws TransportError; then `control` is aborted.
//
// Exchanges run on a stream of their own. One that does not complete within `timeout_s` of its start on the
// GPU is aborted, and stream 0 goes on without its data: what was computed from them is worth something only
// if a barrier() that was called after a synchronisation with the device passes.
std::unique_ptr<Transport> nccl_transport(std::shared_ptr<Transport> control, double timeout_s);

}  // namespace hilbench
