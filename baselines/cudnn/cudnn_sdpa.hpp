// cuDNN's fused attention for one AttentionCall. The interface keeps cuDNN's large headers in
// one source file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "baselines/branches/attention_calls.hpp"
#include "kernels/case/case.hpp"

namespace hilbench {

// Empty if cuDNN could be loaded, else the reason and what to do. Loads it on the first call.
const std::string& cudnn_absence();
// Version of the loaded library ("9.19.0"), and of the headers that describe graphs to it ("1.32.0").
std::string cudnn_version();
std::string cudnn_frontend_version();

// Where the tensors of a call begin on the device.
struct SdpaRows {
  const void* q = nullptr;
  const void* k = nullptr;
  const void* v = nullptr;
  void* o = nullptr;
  float* lse = nullptr;  // natural logarithm; of a backward call packed as [outer, heads, rows]
  // Of a backward call, which reads O and LSE.
  const void* d_o = nullptr;
  void* d_q = nullptr;
  void* d_k = nullptr;
  void* d_v = nullptr;
};

// A way of cuDNN to compute a call: an engine with its settings.
struct SdpaPlan {
  std::string name;  // cuDNN's own: "eng4_k24=3"
  std::int64_t workspace_bytes = 0;
  std::int64_t index = 0;  // cuDNN's
};

constexpr std::size_t kMostSdpaPlans = 8;

// A call made ready. `first` of its row strides is ignored: run() gets pointers to the first rows.
class CudnnSdpa {
 public:
  // Throws std::runtime_error with cuDNN's reason if cuDNN has no plan for the shape.
  CudnnSdpa(const AttentionCall& call, std::int64_t head_dim, Dtype dtype, Mask mask);
  // Its backward pass. dO and O have the layout of Q. `gradients` is the call with the row strides of dQ (q),
  // and of dK and dV (kv).
  CudnnSdpa(const AttentionCall& call, const AttentionCall& gradients, std::int64_t head_dim, Dtype dtype,
            Mask mask);
  ~CudnnSdpa();
  CudnnSdpa(CudnnSdpa&&) noexcept;
  // At least one and at most kMostSdpaPlans, built, in the order in which cuDNN's heuristics prefer them.
  const std::vector<SdpaPlan>& plans() const;
  // Enqueues plans()[plan] on the default stream. `workspace` has the plan's bytes.
  void run(std::size_t plan, const SdpaRows& rows, void* workspace) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hilbench
