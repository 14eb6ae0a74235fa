// How instances of dilated_wgmma and its relatives are chosen, and launched.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <initializer_list>
#include <stdexcept>
#include <type_traits>

#include "kernels/cuda/runtime/status.hpp"
#include "kernels/cuda/shared/forward.hpp"
#include "kernels/cuda/wgmma/tensor_map.hpp"
#include "kernels/cuda/wgmma/wgmma_tiling.cuh"

namespace hilbench::cuda {

// A kernel compiled for one shape.
struct Instance {
  const void* function;
  int threads, shared_bytes;
  BoxRows boxes;
};

template <class S>
Instance instance_of(void (*kernel)(typename S::Params, typename S::Maps)) {
  return {reinterpret_cast<const void*>(kernel), S::kThreads, S::kSharedBytes, {64, S::kKeys, 16}};
}

template <class T>
struct ElementType {
  using Type = T;
};

// make(element, head_dim, padded) of the compiled head_dim, as constants; not padded: that of the shape.
template <class Element, class Make>
Instance choose_head_dim(int head_dim, Element element, const Make& make) {
  const auto exact = [&](auto dim) { return make(element, dim, std::false_type()); };
  const auto padded = [&](auto dim) { return make(element, dim, std::true_type()); };
  if (head_dim == 64) return exact(std::integral_constant<int, 64>());
  if (head_dim == 128) return exact(std::integral_constant<int, 128>());
  switch (wgmma_compiled_dim(head_dim)) {
    case 64:
      return padded(std::integral_constant<int, 64>());
    case 80:
      return padded(std::integral_constant<int, 80>());
    case 96:
      return padded(std::integral_constant<int, 96>());
    case 128:
      return padded(std::integral_constant<int, 128>());
    case 192:
      return padded(std::integral_constant<int, 192>());
    default:
      return padded(std::integral_constant<int, 256>());
  }
}

// make(ElementType<T>(), std::integral_constant<int, kDim>(), std::bool_constant<kPadded>()) of the shape.
// Throws std::invalid_argument if no instance is compiled for it.
template <class Make>
Instance choose_instance(const ForwardShape& shape, const Make& make) {
  if (shape.head_dim < 32 || shape.head_dim > 256 || shape.head_dim % 8 != 0)
    throw std::invalid_argument("wgmma kernels take head_dim 32 to 256 in steps of 8");
  const auto of_element = [&](auto element) { return choose_head_dim(shape.head_dim, element, make); };
  if (shape.dtype == Dtype::bf16) return of_element(ElementType<__nv_bfloat16>());
  if (shape.dtype == Dtype::fp16) return of_element(ElementType<__half>());
  throw std::invalid_argument("wgmma kernels take bf16 and fp16");
}

// Lets the instances have their shared memory on the current device. Returns its multiprocessors.
inline int prepare_instances(std::initializer_list<Instance> instances) {
  for (const Instance& instance : instances)
    HILBENCH_CUDA(cudaFuncSetAttribute(instance.function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       instance.shared_bytes));
  int device = 0, multiprocessors = 0;
  HILBENCH_CUDA(cudaGetDevice(&device));
  HILBENCH_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  return multiprocessors;
}

// What all of these kernels are told of a launch.
inline KernelParams kernel_params(const ForwardShape& shape, const ForwardParams& params) {
  return {params, shape.sequence, shape.batch, shape.heads, shape.kv_heads, shape.head_dim};
}

template <class Params, class Maps>
void launch_instance(const Instance& instance, const Params& params, const Maps& maps, int blocks,
                     cudaStream_t stream) {
  const void* arguments[] = {&params, &maps};
  HILBENCH_CUDA(cudaLaunchKernel(instance.function, dim3(blocks), dim3(instance.threads),
                                 const_cast<void**>(arguments), instance.shared_bytes, stream));
}

}  // namespace hilbench::cuda
