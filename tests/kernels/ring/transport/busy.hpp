// C++17 and no fmt.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace hilbench::cuda {

// Keeps every multiprocessor of the current device busy for about so many clock cycles, with `waves` blocks
// one after the other, each of which takes all of its shared memory: nothing runs beside them.
void occupy_every_sm(std::int64_t cycles, int waves, cudaStream_t stream);

}  // namespace hilbench::cuda
