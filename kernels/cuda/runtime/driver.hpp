// Functions of the CUDA driver, found at run time, so that the program does not link against its library.
// C++17 and no fmt.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace hilbench::cuda {

// The driver's function of this name, as CUDA 12.0 has it. Throws CudaError or std::runtime_error if there is
// none.
void* driver_function(const char* name);

// Writes `value` to a word of device memory after all earlier work of the stream, whose effects are visible
// to whoever reads the value. No multiprocessor takes part. Throws std::runtime_error.
void write_value(std::uint32_t* word, std::uint32_t value, cudaStream_t stream);

}  // namespace hilbench::cuda
