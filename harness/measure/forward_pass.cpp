#include "harness/measure/forward_pass.hpp"

#include <fmt/format.h>

#include "baselines/table.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/machine/gpu.hpp"
#include "kernels/windows/case_index.hpp"

namespace hilbench {

struct ForwardPass::Parts {
  Index index;
  std::unique_ptr<Execution> execution;
};

Case forward_of(Case work) {
  work.pass = Pass::forward;
  return work;
}
std::vector<Case> passes_of(const Case& work, Saved saved) {
  const bool again = work.pass == Pass::backward && saved == Saved::inputs;
  if (work.pass != Pass::both && !again) return {work};
  Case backward = work;
  backward.pass = Pass::backward;
  return {forward_of(work), backward};
}

const Implementation* ForwardPass::kernel_of(const Case& work, const Gpu* gpu) {
  return resolve_implementation(variant_named(ImplementationKind::kernel, "dilated"), forward_of(work), gpu);
}

ForwardPass::ForwardPass(const Case& work, Device& device, int threads) : parts_(std::make_unique<Parts>()) {
  const Case forward = forward_of(work);
  const Variant variant = variant_named(ImplementationKind::kernel, "dilated");
  const std::vector<Gpu> gpus = work.device == DeviceKind::cuda ? survey_gpus().gpus : std::vector<Gpu>();
  const Gpu* gpu = gpus.empty() ? nullptr : &gpus.front();
  const Implementation* kernel = kernel_of(work, gpu);
  const Refusal reason = kernel == nullptr ? Refusal("this build has no kernel for it")
                                           : why_not(*kernel, forward, variant, gpu);
  if (reason)
    throw EnvironmentError(
        {.what = "gradients start from a forward pass that no kernel here computes", .why = *reason});
  parts_->index =
      case_index(forward, variant.kernel(), kernel->tile_rows(forward),
                 {.causal = kernel->causal_traversal, .at_once = device.multiprocessors().value_or(threads)});
  parts_->execution = kernel->prepare(forward, variant.kernel(), threads);
  parts_->execution->load(parts_->index);
  const std::int64_t rows = work.batch * work.sequence_length * work.heads;
  o = device.allocate(static_cast<std::size_t>(rows * work.head_dim * dtype_bytes(work.dtype)));
  lse = device.allocate(static_cast<std::size_t>(rows) * sizeof(float));
}

ForwardPass::~ForwardPass() = default;

void ForwardPass::run(const Buffer& q, const Buffer& k, const Buffer& v) {
  parts_->execution->run(
      {.q = q.data(), .k = k.data(), .v = v.data(), .o = o.data(), .lse = static_cast<float*>(lse.data())},
      parts_->index);
}

}  // namespace hilbench
