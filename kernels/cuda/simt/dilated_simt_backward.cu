// The backward pass of dilated_simt (simt_gradients.cuh), all instances.
#include <stdexcept>
#include <string>

#include "kernels/cuda/runtime/status.hpp"
#include "kernels/cuda/shared/gradient.hpp"
#include "kernels/cuda/simt/simt_gradients.cuh"

namespace hilbench::cuda {
namespace {

struct GradientInstance {
  void (*queries)(GradientParams, ForwardShape) = nullptr;  // null: no shape fits
  void (*keys)(GradientParams, ForwardShape) = nullptr;
  int threads = 0;
  int shared_bytes = 0;
};

class DilatedSimtGradients : public GradientKernel {
 public:
  DilatedSimtGradients(const ForwardShape& shape, const GradientInstance& instance)
      : shape_(shape), instance_(instance) {
    for (const auto kernel : {instance_.queries, instance_.keys})
      HILBENCH_CUDA(
          cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, instance_.shared_bytes));
  }

  void launch(const GradientParams& params, cudaStream_t stream) override {
    if (params.tile_count > 0) start(instance_.queries, params.tile_count, params, stream);
    if (params.key_tile_count > 0) start(instance_.keys, params.key_tile_count, params, stream);
  }

 private:
  void start(void (*kernel)(GradientParams, ForwardShape), int tiles, const GradientParams& params,
             cudaStream_t stream) const {
    kernel<<<tiles, instance_.threads, instance_.shared_bytes, stream>>>(params, shape_);
    HILBENCH_CUDA(cudaGetLastError());
  }

  ForwardShape shape_;
  GradientInstance instance_;
};

}  // namespace

std::unique_ptr<GradientKernel> make_dilated_simt_gradients(const ForwardShape& shape) {
  const auto instance =
      simt::visit_gradient_shape(shape.head_dim, GradientInstance(), [](auto sizes) -> GradientInstance {
        using Shape = decltype(sizes);
        return {query_gradients<Shape>, key_gradients<Shape>, Shape::kThreads, Shape::kSharedBytes};
      });
  if (instance.queries == nullptr)
    throw std::runtime_error("dilated_simt: head_dim " + std::to_string(shape.head_dim) +
                             " fits no tile of this device");
  return std::make_unique<DilatedSimtGradients>(shape, instance);
}

}  // namespace hilbench::cuda
