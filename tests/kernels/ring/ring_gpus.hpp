// Rings of GPUs against the oracle. With fewer GPUs than ranks they share them.
#pragma once

#include <gtest/gtest.h>

#include "harness/gpu.hpp"
#include "tests/kernels/ring/ring_cases.hpp"
#include "tests/kernels/ring/ring_problem.hpp"

namespace hilbench {

inline constexpr double kPatience_s = 60;

inline const GpuSurvey& survey() {
  static const GpuSurvey seen = survey_gpus();
  return seen;
}

// `count` GPUs, the first one current.
class Gpus {
 public:
  explicit Gpus(int count) {
    for (int ordinal = count - 1; ordinal >= 0; --ordinal) opened_.push_back(open_cuda_device(ordinal));
    for (auto each = opened_.rbegin(); each != opened_.rend(); ++each) devices_.push_back(each->get());
  }
  const std::vector<Device*>& devices() const { return devices_; }
  std::unique_ptr<RingBed> bed(int ranks, RingTransport transport, double timeout_s = kPatience_s) const {
    return cuda_ring_bed(ranks, devices_, transport, timeout_s);
  }

 private:
  std::vector<std::unique_ptr<Device>> opened_;
  std::vector<Device*> devices_;
};

inline std::vector<const Variant*> kernels_for(Case work) {
  work.ring_size = 1;
  std::vector<const Variant*> kernels;
  for (const Variant* variant : variant_table())
    if (variant->device == DeviceKind::cuda && variant->kind == RecordKind::kernel &&
        !reason_unsupported(*variant, work, {.kernel = std::string(variant->name)}, &survey().gpus.front()))
      kernels.push_back(variant);
  return kernels;
}

// A random case of every mask and dtype by every kernel.
inline void compare_with_oracle(const Gpus& gpus, RingTransport transport, int ranks, RingAlgorithm algorithm,
                                Sharding sharding, int cases) {
  Random random(static_cast<std::uint64_t>(ranks * 100 + static_cast<int>(algorithm) * 10 +
                                           static_cast<int>(sharding)));
  for (const Mask mask : {Mask::full, Mask::causal})
    for (const Dtype dtype : {Dtype::bf16, Dtype::fp32})
      for (int i = 0; i < cases; ++i) {
        Case work = random_ring_case(random, ranks, i % 2 == 0 ? 90 : 700);
        work.device = DeviceKind::cuda;
        work.head_dim = one_of<std::int64_t>(random, {64, 128});
        work.mask = mask;
        work.dtype = dtype;
        VariantSpec spec = random_ring_variant(random, algorithm, sharding);
        spec.rows = one_of(random, {KeyRows::automatic, KeyRows::gathered});
        const AttentionProblem problem(work, random);
        const ExpectedRows expected(problem, sampled_rows(work, random, 60));
        for (const Variant* kernel : kernels_for(work)) {
          SCOPED_TRACE(std::string(kernel->name) + " " + described(work, spec));
          const auto bed = gpus.bed(ranks, transport);
          EXPECT_EQ(expected.mismatch(work, run_ring(problem, spec, *kernel, *bed, 1).output), "");
          if (testing::Test::HasFailure()) return;
        }
      }
}

}  // namespace hilbench
