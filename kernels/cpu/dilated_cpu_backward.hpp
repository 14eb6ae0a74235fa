// The backward pass of `dilated_cpu` (docs/definitions.md, "Backward"; FlashAttention-2, arXiv 2307.08691,
// Algorithm 2): dQ, dK and dV from Q, K, V, O, the LSE of all branches, and dO.
#pragma once

#include <memory>

#include "kernels/implementation.hpp"

namespace hilbench {

// A run gives the same bits every time, with the same number of threads.
std::unique_ptr<Execution> dilated_cpu_backward(const Case& work, int threads);
double backward_workspace_bytes(const Case& work, std::int64_t tile_rows, int threads);

}  // namespace hilbench
