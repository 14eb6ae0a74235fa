// cuBLAS, loaded on first use.
#pragma once

#include <cublas_v2.h>

#include <memory>
#include <string>
#include <type_traits>

#include "kernels/case/case.hpp"

namespace hilbench {

// cuBLAS overloads the name for C++, so the type of the C function is written out here.
using CublasGemm = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m, int n,
                                      int k, const void* alpha, const void* a, cudaDataType_t, int lda,
                                      long long a_step, const void* b, cudaDataType_t, int ldb,
                                      long long b_step, const void* beta, void* c, cudaDataType_t, int ldc,
                                      long long c_step, int count, cublasComputeType_t, cublasGemmAlgo_t);

struct Cublas {
  std::string absence;  // empty if cuBLAS could be loaded, else the reason and what to do
  decltype(&cublasCreate_v2) create = nullptr;
  decltype(&cublasDestroy_v2) destroy = nullptr;
  decltype(&cublasGetProperty) property = nullptr;
  decltype(&cublasGetStatusString) status_text = nullptr;
  CublasGemm gemm = nullptr;  // cublasGemmStridedBatchedEx
};
const Cublas& cublas();

// The functions below may be called only if cublas().absence is empty.
// Throws std::runtime_error if `status` is an error.
void check_cublas(cublasStatus_t status, const char* call);
std::string cublas_version();  // "13.0.2"

struct DestroyCublas {
  void operator()(cublasHandle_t handle) const;
};
using CublasHandle = std::unique_ptr<std::remove_pointer_t<cublasHandle_t>, DestroyCublas>;
// Of elements of a tensor.
inline cudaDataType_t cublas_type(Dtype dtype) {
  if (dtype == Dtype::fp32) return CUDA_R_32F;
  return dtype == Dtype::bf16 ? CUDA_R_16BF : CUDA_R_16F;
}
CublasHandle make_cublas_handle();  // on the default stream of the current device

}  // namespace hilbench
