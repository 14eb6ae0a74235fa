// Empties the caches between runs. C++17 and no fmt.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace hilbench::cuda {

// Reads `bytes` (a multiple of 16) from `buffer`, so that clean lines of it replace what the caches held. The
// next kernel then finds none of its data there and does not pay for writing back other data.
void read_through(const void* buffer, std::size_t bytes, cudaStream_t stream);

}  // namespace hilbench::cuda
