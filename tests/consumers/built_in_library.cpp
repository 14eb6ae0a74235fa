// dilated_cpu and dilated_simt as a kernel of a user (hilbench/kernel.h): the same code behind the interface,
// to compare the times of both. Forward passes of branches whose further parameters are at their defaults.
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "kernels/cpu/dilated_cpu.hpp"
#include "kernels/index/index.hpp"
#include "kernels/plugin/kernel.h"
#ifdef HILBENCH_WITH_CUDA
#include <cuda_runtime_api.h>
#endif

namespace hilbench {

extern const Implementation kDilatedSimt;

namespace {

const Implementation& implementation_for(const Case& work) {
  return work.device == DeviceKind::cuda ? kDilatedSimt : kDilatedCpu;
}

Case case_of(const hilbench_case& given) {
  Case work;
  work.sequence_length = given.sequence_length;
  work.batch = given.batch;
  work.heads = given.heads;
  work.kv_heads = given.kv_heads;
  work.head_dim = given.head_dim;
  work.dtype = static_cast<Dtype>(given.dtype);
  work.mask = given.causal != 0 ? Mask::causal : Mask::full;
  work.device = given.on_cuda != 0 ? DeviceKind::cuda : DeviceKind::cpu;
  work.threads = given.threads;
  work.pattern.clear();
  for (std::int32_t i = 0; i < given.branches; ++i)
    work.pattern.push_back({.segment_length = given.segments[i], .dilation = given.dilations[i]});
  return work;
}

// Empty if the status of CUDA is not 0.
std::vector<std::int32_t> host_slots(const hilbench_case& given, const hilbench_tensors& tensors) {
  std::vector<std::int32_t> slots(static_cast<std::size_t>(given.sequence_length));
  if (given.on_cuda == 0) {
    slots.assign(tensors.slots, tensors.slots + given.sequence_length);
    return slots;
  }
#ifdef HILBENCH_WITH_CUDA
  if (cudaMemcpy(slots.data(), tensors.slots, slots.size() * sizeof(std::int32_t), cudaMemcpyDeviceToHost) !=
      0)
    slots.clear();
#endif
  return slots;
}

struct Prepared {
  Index index;
  std::unique_ptr<Execution> execution;
};

std::string reason;

const char* why_not(const hilbench_case* given) {
  const Case work = case_of(*given);
  const Refusal refusal = implementation_for(work).why_not(work, Variant{});
  if (!refusal) return nullptr;
  reason = *refusal;
  return reason.c_str();
}

std::int32_t prepare(const hilbench_case* given, const hilbench_tensors* tensors, void** state) {
  const Case work = case_of(*given);
  const Implementation& kernel = implementation_for(work);
  const std::vector<std::int32_t> slots = host_slots(*given, *tensors);
  if (slots.empty()) return 1;
  auto prepared = std::make_unique<Prepared>();
  prepared->index = build_index(work, {}, kernel.tile_rows(work));
  std::vector<std::int32_t> linear(slots.size());
  std::iota(linear.begin(), linear.end(), 0);
  if (slots != linear) {
    prepared->index.k_slots = slots;
    for (BranchIndex& branch : prepared->index.branches)
      for (std::int32_t& slot : branch.key_slot) slot = slots[static_cast<std::size_t>(slot)];
  }
  prepared->execution = kernel.prepare(work, {}, given->threads);
  prepared->execution->load(prepared->index);
  *state = prepared.release();
  return 0;
}

std::int32_t launch(void* state, const hilbench_tensors* tensors, void*) {
  const auto& prepared = *static_cast<const Prepared*>(state);
  prepared.execution->run(
      {.q = tensors->q, .k = tensors->k, .v = tensors->v, .o = tensors->o, .lse = tensors->lse},
      prepared.index);
  return 0;
}

void release(void* state) {
  delete static_cast<Prepared*>(state);
}

}  // namespace
}  // namespace hilbench

extern "C" const hilbench_kernel* hilbench_kernel_table() {
  static const hilbench_kernel table = {.interface = HILBENCH_KERNEL_INTERFACE,
                                        .devices = HILBENCH_ON_CPU | HILBENCH_ON_CUDA,
                                        .tile_rows = 0,
                                        .name = "built_in",
                                        .why_not = hilbench::why_not,
                                        .workspace_bytes = nullptr,
                                        .prepare = hilbench::prepare,
                                        .launch = hilbench::launch,
                                        .release = hilbench::release,
                                        .error_text = nullptr};
  return &table;
}
