// The instances of dilated_simt of a dtype, and how one is chosen.
#pragma once

#include "kernels/cuda/simt/simt_instance.hpp"
#include "kernels/cuda/simt/simt_kernel.cuh"
#include "kernels/cuda/simt/simt_shapes.hpp"

namespace hilbench::cuda::simt {

template <Dtype kDtype>
Instance choose_instance(int head_dim) {
  return visit_shape(head_dim, Instance{}, [](auto shape) -> Instance {
    using Shape = decltype(shape);
    return {dilated_simt<kDtype, Shape>, Shape::kThreads, Shape::kSharedBytes};
  });
}

}  // namespace hilbench::cuda::simt
