// The backward pass of dilated_simt (simt_gradients.cuh), all instances.
#include <stdexcept>
#include <string>
#include <utility>

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
  void (*in_turn)(GradientParams, ForwardShape) = nullptr;  // null: none
  int in_turn_bytes = 0;                                    // of shared memory
  int turn_queries = 0;
};

template <typename Shape>
void add_turns(GradientInstance& instance) {
  if constexpr (simt::has_turns<Shape>()) {
    if (!simt::runs_here(simt::InTurn<Shape>::kSharedBytes + 4)) return;
    instance.in_turn = gradients_in_turn<Shape>;
    instance.in_turn_bytes = simt::InTurn<Shape>::kSharedBytes;
    instance.turn_queries = Shape::kKeys;
  }
}

class DilatedSimtGradients : public GradientKernel {
 public:
  DilatedSimtGradients(const ForwardShape& shape, const GradientInstance& instance)
      : shape_(shape), instance_(instance) {
    for (const auto& [kernel, bytes] : {std::pair(instance_.queries, instance_.shared_bytes),
                                        std::pair(instance_.keys, instance_.shared_bytes),
                                        std::pair(instance_.in_turn, instance_.in_turn_bytes)})
      if (kernel != nullptr)
        HILBENCH_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  }

  int turn_queries() const override { return instance_.turn_queries; }

  void launch(const GradientParams& params, cudaStream_t stream) override {
    const bool in_turn = params.turns != nullptr;
    if (params.tile_count > 0 && !in_turn)
      start(instance_.queries, params.tile_count, instance_.shared_bytes, params, stream);
    if (params.key_tile_count == 0) return;
    start(in_turn ? instance_.in_turn : instance_.keys, params.key_tile_count,
          in_turn ? instance_.in_turn_bytes : instance_.shared_bytes, params, stream);
  }

 private:
  void start(void (*kernel)(GradientParams, ForwardShape), int tiles, int shared_bytes,
             const GradientParams& params, cudaStream_t stream) const {
    kernel<<<tiles, instance_.threads, shared_bytes, stream>>>(params, shape_);
    HILBENCH_CUDA(cudaGetLastError());
  }

  ForwardShape shape_;
  GradientInstance instance_;
};

}  // namespace

std::unique_ptr<GradientKernel> make_dilated_simt_gradients(const ForwardShape& shape) {
  const auto instance =
      simt::visit_gradient_shape(shape.head_dim, GradientInstance(), [&](auto sizes) -> GradientInstance {
        using Shape = decltype(sizes);
        GradientInstance made{query_gradients<Shape>, key_gradients<Shape>, Shape::kThreads,
                              Shape::kSharedBytes};
        if (shape.dtype == Dtype::fp32) add_turns<Shape>(made);
        return made;
      });
  if (instance.queries == nullptr)
    throw std::runtime_error("dilated_simt: head_dim " + std::to_string(shape.head_dim) +
                             " fits no tile of this device");
  return std::make_unique<DilatedSimtGradients>(shape, instance);
}

}  // namespace hilbench::cuda
