// A computation that fills a GPU. C++17 and no fmt.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace hilbench::cuda {

// Keeps every multiprocessor of the current device busy for about `cycles` clock cycles, with `waves` blocks
// one after another. Each block takes all shared memory, so that nothing else runs at the same time.
void occupy_every_sm(std::int64_t cycles, int waves, cudaStream_t stream);

}  // namespace hilbench::cuda
