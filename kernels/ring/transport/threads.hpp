// Transport `threads`: ranks are threads of this process, and the data are in its memory.
#pragma once

#include <memory>
#include <vector>

#include "kernels/ring/transport/outer_link.hpp"
#include "kernels/ring/transport/transport.hpp"

namespace hilbench {

// The ends of a ring of `size` ranks, each for a thread of its own; the threads may start at any time. Data
// are copied once, from the sender's buffer to the receiver's, by the rank that waits first. What crosses the
// link is copied twice, through a buffer between them.
std::vector<std::unique_ptr<Transport>> thread_transports(int size, double timeout_s, EmulatedLink link = {});

}  // namespace hilbench
