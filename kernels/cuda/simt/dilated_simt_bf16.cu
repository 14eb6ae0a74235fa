// The instances of dilated_simt for bf16.
#include "kernels/cuda/simt/simt_choice.cuh"
#include "kernels/cuda/simt/simt_instance.hpp"

namespace hilbench::cuda::simt {

Instance choose_bf16(int head_dim) {
  return choose_instance<Dtype::bf16>(head_dim);
}

}  // namespace hilbench::cuda::simt
