// Runs the CUDA forward kernels on the first GPU.
#pragma once

#include <string>
#include <vector>

#include "baselines/table.hpp"
#include "harness/device/device.hpp"
#include "kernels/machine/gpu.hpp"
#include "tests/kernels/attention_problem.hpp"

namespace hilbench {

inline const GpuSurvey& survey() {
  static const GpuSurvey seen = survey_gpus();
  return seen;
}

inline std::vector<const Implementation*> kernels_for(const Case& work) {
  std::vector<const Implementation*> kernels;
  for (const Implementation* implementation : implementation_table())
    if (implementation->device == DeviceKind::cuda && implementation->kind == ImplementationKind::kernel &&
        !why_not(*implementation, work, {KernelChoice{.name = std::string(implementation->name)}},
                 &survey().gpus.front()))
      kernels.push_back(implementation);
  return kernels;
}

inline Buffer on_device(Device& device, const std::vector<float>& values, const Case& work,
                        std::int64_t heads, const std::vector<std::int32_t>& slots) {
  const Bytes bytes = stored(values, work, heads, slots);
  Buffer buffer = device.allocate(values.size() * static_cast<std::size_t>(dtype_bytes(work.dtype)));
  device.upload(bytes.get(), buffer);
  return buffer;
}

inline AttentionOutput run_on_gpu(Device& device, const AttentionProblem& problem,
                                  const Implementation& implementation, const KernelChoice& choice) {
  const Case& work = problem.work;
  const Index index = case_index(work, choice, implementation.tile_rows(work));
  const std::vector<std::int32_t> raster;
  const std::vector<std::int32_t>& q_slots = implementation.raster_storage ? raster : index.q_slots;
  const std::vector<std::int32_t>& k_slots = implementation.raster_storage ? raster : index.k_slots;
  const Buffer q = on_device(device, problem.q, work, work.heads, q_slots);
  const Buffer k = on_device(device, problem.k, work, work.kv_heads, k_slots);
  const Buffer v = on_device(device, problem.v, work, work.kv_heads, k_slots);
  AttentionOutput output{std::vector<float>(problem.q.size()),
                         std::vector<float>(problem.q.size() / static_cast<std::size_t>(work.head_dim))};
  Buffer o = device.allocate(output.o.size() * static_cast<std::size_t>(dtype_bytes(work.dtype)));
  Buffer lse = device.allocate(output.lse.size() * sizeof(float));
  device.fill(o, std::byte{0xff});
  device.fill(lse, std::byte{0xff});
  const auto execution = implementation.prepare(work, choice, 1);
  execution->load(index);
  // Twice, because one run must not change the next.
  for (int run = 0; run < 2; ++run)
    execution->run({q.data(), k.data(), v.data(), o.data(), static_cast<float*>(lse.data())}, index);
  device.synchronize();
  std::vector<std::byte> raw(o.bytes);
  device.download(o, raw.data());
  widen(work.dtype, raw.data(), output.o);
  device.download(lse, output.lse.data());
  return output;
}

}  // namespace hilbench
