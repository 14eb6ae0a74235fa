// C++17 and no fmt.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace hilbench::cuda {

// Keeps the stream busy for about so many clock cycles, so that what is enqueued meanwhile starts without
// waiting for the host.
void hold(std::int64_t cycles, cudaStream_t stream);

}  // namespace hilbench::cuda
