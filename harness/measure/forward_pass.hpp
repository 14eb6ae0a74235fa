// The forward pass that gradients start from: O and LSE are operands of the backward pass, the same for all
// variants of a comparison.
#pragma once

#include <memory>

#include "harness/device/device.hpp"
#include "harness/measure/gradient_oracle.hpp"
#include "harness/measure/verify.hpp"
#include "kernels/implementation.hpp"

namespace hilbench {

// Computed by the device's best kernel, on inputs in position order.
class ForwardPass {
 public:
  // `work` is that of the gradients. Throws EnvironmentError if no kernel of the device can compute it.
  ForwardPass(const Case& work, Device& device, int threads);
  ~ForwardPass();

  // Writes o and lse.
  void run(const Buffer& q, const Buffer& k, const Buffer& v);
  Buffer o, lse;

  // The kernel that computes it; null if the build has none for the device.
  static const Implementation* kernel_of(const Case& work, const Gpu* gpu);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// `work` with the forward pass alone.
Case forward_of(Case work);
// `work` by the passes that a variant computes: the forward pass too if it is computed again.
std::vector<Case> passes_of(const Case& work, Saved saved);

}  // namespace hilbench
