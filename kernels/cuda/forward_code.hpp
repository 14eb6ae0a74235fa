// The code of the CUDA forward kernels in this build: which file answers is CMake's choice.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "kernels/implementation.hpp"

namespace hilbench::cuda {

enum class ForwardCode { simt, mma, wgmma };

// Why this build has no code of a kernel; "" where it has.
std::string_view absence(ForwardCode code);
// Why the code that this build has runs on no GPU of that compute capability (10 * major + minor); "" where
// it runs.
std::string absence_for(ForwardCode code, int compute_capability);

// Of a kernel that is not lacking.
std::int64_t tile_rows(ForwardCode code, const Case& work);
std::unique_ptr<Execution> prepare(ForwardCode code, const Case& work, const Variant& variant);

// Bytes that prepare() allocates.
double workspace_bytes(const Case& work);

}  // namespace hilbench::cuda
