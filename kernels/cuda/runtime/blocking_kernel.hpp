// A kernel that keeps a stream busy. C++17 and no fmt.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace hilbench::cuda {

// Keeps the stream busy for about `cycles` clock cycles. Work that is enqueued in the meantime then starts
// without waiting for the host.
void hold(std::int64_t cycles, cudaStream_t stream);

}  // namespace hilbench::cuda
