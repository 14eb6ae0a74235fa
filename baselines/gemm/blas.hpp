// The BLAS that the `gemm` baseline stands on: OpenBLAS, loaded on first use and held to one thread a call.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace hilbench {

// OPENBLAS_CORETYPE for this processor; "" where OpenBLAS should decide. Its own choice falls back to its
// slowest kernels on processors that are newer than it.
std::string blas_core_type();

// "" where OpenBLAS could be loaded, else the reason and what to install. Loads it on the first call: sets
// OPENBLAS_CORETYPE to blas_core_type() unless the user has set it, so call it before other threads run.
const std::string& blas_absence();

// Row-major C[m x n] = alpha * A[m x k] * B + beta * C, on the calling thread. B is [k x n], or with
// `Transposed::yes` [n x k]. Row strides lda, ldb, ldc in elements. Needs blas_absence() empty.
enum class Transposed { no, yes };
void sgemm(Transposed b_is, std::int64_t m, std::int64_t n, std::int64_t k, float alpha, const float* a,
           std::int64_t lda, const float* b, std::int64_t ldb, float beta, float* c, std::int64_t ldc);

// {"name", "version", "core", "config", "sgemm_gflops", "fma_gflops", "note"}: the rate of the products of an
// attention block on one thread, measured once per process (some 20 ms), beside the measured FMA peak; `note`
// says so where the BLAS stays below half of it. Without BLAS: {"name", "note"}.
const nlohmann::json& blas_record();

}  // namespace hilbench
