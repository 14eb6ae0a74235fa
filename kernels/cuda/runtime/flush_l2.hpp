// Empties the caches between runs. C++17 and no fmt.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace hilbench::cuda {

// Reads `bytes` (a multiple of 16) from `buffer`, so that clean lines of it replace what the caches held. The
// next kernel then finds none of its data there and does not pay for writing back other data.
//
// Reading once is not enough: the L2 of Hopper keeps lines that were hit often, and after four times its size
// had been read, an H200 still held 11 MB of 25 that the kernel before had used. So the lines are first read
// as those to be kept longest, which replace all others, and then as those that go first.
void read_through(const void* buffer, std::size_t bytes, cudaStream_t stream);

}  // namespace hilbench::cuda
