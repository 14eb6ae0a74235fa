// Converts elements of tensors to fp32 and back on every architecture, bf16 below
// compute capability 8.0 included.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace hilbench::cuda {

template <class T>
__device__ __forceinline__ float widen(T value);
template <>
__device__ __forceinline__ float widen<float>(float value) {
  return value;
}
template <>
__device__ __forceinline__ float widen<__half>(__half value) {
  return __half2float(value);
}
template <>
__device__ __forceinline__ float widen<__nv_bfloat16>(__nv_bfloat16 value) {
  return __bfloat162float(value);
}

// To nearest, ties to even.
template <class T>
__device__ __forceinline__ T narrow(float value);
template <>
__device__ __forceinline__ float narrow<float>(float value) {
  return value;
}
template <>
__device__ __forceinline__ __half narrow<__half>(float value) {
  return __float2half_rn(value);
}
template <>
__device__ __forceinline__ __nv_bfloat16 narrow<__nv_bfloat16>(float value) {
  return __float2bfloat16_rn(value);
}

}  // namespace hilbench::cuda
