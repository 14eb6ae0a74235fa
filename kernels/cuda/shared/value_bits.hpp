// Looks at and changes the bits of a tensor's elements. C++17 and no fmt.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace hilbench::cuda {

enum class ElementBits : std::int32_t { fp32, bf16, fp16 };

// How many of `count` elements in device memory are NaN or infinite; -infinity does not count if it is
// allowed. `counter` is one number of device memory, which this overwrites. Waits for the stream. Throws
// CudaError.
std::int64_t count_bad_values(const void* elements, ElementBits bits, std::int64_t count,
                              bool negative_infinity_allowed, unsigned long long* counter,
                              cudaStream_t stream);

// Changes the sign of each of `count` elements in device memory. Enqueues only. Throws CudaError if the
// launch is refused.
void negate_values(void* elements, ElementBits bits, std::int64_t count, cudaStream_t stream);

}  // namespace hilbench::cuda
