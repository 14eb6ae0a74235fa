// The BLAS of the `gemm` baseline: OpenBLAS, loaded on first use and limited to one thread for each call.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace hilbench {

// The OPENBLAS_CORETYPE for this processor; "" if OpenBLAS should decide. On processors that are newer than
// OpenBLAS, it would decide for its slowest kernels.
std::string blas_core_type();

// Empty if a child process could load OpenBLAS and map a buffer of it, else the reason and what to do: a
// library that crashes or hangs harms nobody. HILBENCH_BLAS_TIMEOUT_S says how long the child may take; the
// default is 10. The first call sets OPENBLAS_CORETYPE to blas_core_type()
// unless the user has set it; it must be made before other threads run. This process loads the library when
// sgemm() or blas_record() needs it.
const std::string& blas_absence();

// To be called before this many threads call sgemm(). Throws EnvironmentError if memory is limited so that
// OpenBLAS could not map its buffers: sgemm() would never return.
void expect_blas_buffers(int threads);

// Row-major C[m x n] = alpha * A[m x k] * B + beta * C, on the calling thread. B is [k x n], or [n x k]
// with `Transposed::yes`. Row strides lda, ldb, ldc are in elements. May be called only if
// blas_absence() is empty.
enum class Transposed { no, yes };
void sgemm(Transposed b_is, std::int64_t m, std::int64_t n, std::int64_t k, float alpha, const float* a,
           std::int64_t lda, const float* b, std::int64_t ldb, float beta, float* c, std::int64_t ldc);

// {"name", "version", "core", "config", "sgemm_gflops", "fma_gflops", "note"}. The two rates are those of the
// products of an attention block on one thread and of FMAs (the peak), measured once per process (some 20
// ms). `note` says so if the BLAS reaches less than half of the peak. Without BLAS: {"name", "note"}.
const nlohmann::json& blas_record();

}  // namespace hilbench
