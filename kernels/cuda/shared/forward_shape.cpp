#include "kernels/cuda/shared/forward_shape.hpp"

#include "kernels/case/case.hpp"

namespace hilbench::cuda {

ForwardShape forward_shape(const Case& work) {
  return {.sequence = static_cast<std::int32_t>(work.sequence_length),
          .batch = static_cast<std::int32_t>(work.batch),
          .heads = static_cast<std::int32_t>(work.heads),
          .kv_heads = static_cast<std::int32_t>(work.kv_heads),
          .head_dim = static_cast<std::int32_t>(work.head_dim),
          .dtype = work.dtype,
          .causal = work.mask == Mask::causal && !has_windows(work)};
}

}  // namespace hilbench::cuda
