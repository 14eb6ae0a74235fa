// dilated_simt (simt_kernel.cuh) for a shape. No kernel is compiled here.
#include <stdexcept>
#include <string>

#include "kernels/cuda/runtime/status.hpp"
#include "kernels/cuda/simt/simt_instance.hpp"

namespace hilbench::cuda {
namespace {

simt::Instance choose_instance(const ForwardShape& shape) {
  switch (shape.dtype) {
    case Dtype::bf16:
      return simt::choose_bf16(shape.head_dim);
    case Dtype::fp16:
      return simt::choose_fp16(shape.head_dim);
    default:
      return simt::choose_fp32(shape.head_dim);
  }
}

class DilatedSimt : public ForwardKernel {
 public:
  DilatedSimt(const ForwardShape& shape, const simt::Instance& instance)
      : shape_(shape), instance_(instance) {
    HILBENCH_CUDA(cudaFuncSetAttribute(instance_.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       instance_.shared_bytes));
  }

  void launch(const ForwardParams& params, cudaStream_t stream) override {
    if (params.tile_count == 0) return;
    instance_.kernel<<<params.tile_count, instance_.threads, instance_.shared_bytes, stream>>>(params,
                                                                                               shape_);
    HILBENCH_CUDA(cudaGetLastError());
  }

 private:
  ForwardShape shape_;
  simt::Instance instance_;
};

}  // namespace

std::unique_ptr<ForwardKernel> make_dilated_simt(const ForwardShape& shape) {
  const simt::Instance instance = choose_instance(shape);
  if (instance.kernel == nullptr)
    throw std::runtime_error("dilated_simt: head_dim " + std::to_string(shape.head_dim) +
                             " fits no tile of this device");
  return std::make_unique<DilatedSimt>(shape, instance);
}

}  // namespace hilbench::cuda
