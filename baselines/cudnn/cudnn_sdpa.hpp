// cuDNN's fused attention for one AttentionCall. The interface keeps cuDNN's large headers in
// one source file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "baselines/branches/attention_calls.hpp"
#include "kernels/case/case.hpp"

namespace hilbench {

// Empty if cuDNN could be loaded, else the reason and what to do. Loads it on the first call.
const std::string& cudnn_absence();
// Version of the loaded library ("9.19.0"), and of the headers that describe graphs to it ("1.32.0").
std::string cudnn_version();
std::string cudnn_frontend_version();

// A call made ready. `first` of its row strides is ignored: run() gets pointers to the first rows.
class CudnnSdpa {
 public:
  // Throws std::runtime_error with cuDNN's reason if cuDNN has no plan for the shape.
  CudnnSdpa(const AttentionCall& call, std::int64_t head_dim, Dtype dtype, Mask mask);
  ~CudnnSdpa();
  CudnnSdpa(CudnnSdpa&&) noexcept;
  std::int64_t workspace_bytes() const;
  // Enqueues on the default stream. lse is a natural logarithm.
  void run(const void* q, const void* k, const void* v, void* o, float* lse, void* workspace) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hilbench
