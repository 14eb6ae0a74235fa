// Transport `threads`: the ranks are threads of this process, the data in its memory.
#pragma once

#include <memory>
#include <vector>

#include "kernels/ring/transport/transport.hpp"

namespace hilbench {

// The ends of a ring of `size` ranks, each for a thread of its own, in any order and at any time. Data are
// copied once, from the sender's buffer to the receiver's, by whichever of the two waits first.
std::vector<std::unique_ptr<Transport>> thread_transports(int size, double timeout_s);

}  // namespace hilbench
