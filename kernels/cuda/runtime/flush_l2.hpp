// C++17 and no fmt.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

namespace hilbench::cuda {

// Reads `bytes` (a multiple of 16) from `buffer`, so that whatever the caches held before gives way to clean
// lines: what runs next neither finds its data there nor pays for writing back someone else's.
void read_through(const void* buffer, std::size_t bytes, cudaStream_t stream);

}  // namespace hilbench::cuda
