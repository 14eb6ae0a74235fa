// What is fixed for all launches of a CUDA forward kernel. C++17, no fmt and no CUDA header: .cu files and
// host files of builds without CUDA include it.
#pragma once

#include <cstdint>

#include "kernels/case/dtype.hpp"

namespace hilbench {

struct Case;

namespace cuda {

struct ForwardShape {
  std::int32_t sequence = 0;  // rows of Q, O and LSE in a batch entry; on one rank a row is a position
  std::int32_t batch = 0;
  std::int32_t heads = 0;
  std::int32_t kv_heads = 0;
  std::int32_t head_dim = 0;
  Dtype dtype = Dtype::fp32;
  bool causal = false;
};

ForwardShape forward_shape(const Case& work);

}  // namespace cuda
}  // namespace hilbench
