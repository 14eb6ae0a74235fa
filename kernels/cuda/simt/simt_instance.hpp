// An instance of dilated_simt, and how one is chosen.
#pragma once

#include "kernels/cuda/shared/forward.hpp"

namespace hilbench::cuda::simt {

struct Instance {
  void (*kernel)(ForwardParams, ForwardShape) = nullptr;  // null: no shape fits
  int threads = 0;
  int shared_bytes = 0;
};

// The instance for this head_dim on the current device. Each function is in a file of its own, so
// that several processors compile the kernels at the same time.
Instance choose_fp32(int head_dim);
Instance choose_fp16(int head_dim);
Instance choose_bf16(int head_dim);

}  // namespace hilbench::cuda::simt
