// The instances of dilated_simt for fp16.
#include "kernels/cuda/simt/simt_choice.cuh"
#include "kernels/cuda/simt/simt_instance.hpp"

namespace hilbench::cuda::simt {

Instance choose_fp16(int head_dim) {
  return choose_instance<Dtype::fp16>(head_dim);
}

}  // namespace hilbench::cuda::simt
