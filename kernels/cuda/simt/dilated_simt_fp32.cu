// The instances of dilated_simt for fp32.
#include "kernels/cuda/simt/simt_choice.cuh"
#include "kernels/cuda/simt/simt_instance.hpp"

namespace hilbench::cuda::simt {

Instance choose_fp32(int head_dim) {
  return choose_instance<Dtype::fp32>(head_dim);
}

}  // namespace hilbench::cuda::simt
