// Rings of GPUs compared with the oracle. Ranks share GPUs if there are fewer GPUs than ranks.
#pragma once

#include <gtest/gtest.h>

#include <deque>

#include "baselines/table.hpp"
#include "kernels/machine/gpu.hpp"
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
  std::unique_ptr<RankResources> resources(int ranks, TransportKind transport, double timeout_s = kPatience_s,
                                           int nccl_blocks = 0) const {
    return cuda_rank_resources(ranks, devices_, transport, timeout_s, {}, nccl_blocks);
  }

 private:
  std::vector<std::unique_ptr<Device>> opened_;
  std::vector<Device*> devices_;
};

inline std::vector<const Implementation*> kernels_for(Case work) {
  work.ring_size = 1;
  std::vector<const Implementation*> kernels;
  for (const Implementation* implementation : implementation_table())
    if (implementation->device == DeviceKind::cuda && implementation->kind == ImplementationKind::kernel &&
        !why_not(*implementation, work, {KernelChoice{.name = std::string(implementation->name)}},
                 &survey().gpus.front()))
      kernels.push_back(implementation);
  return kernels;
}

// Small enough for several chunks in a shard of a test.
inline constexpr ChunkSizes kSmallChunks = {
    .least_line_bytes = 1, .least_bytes = 1, .least_bytes_of_whole_heads = 1};

// `cases` random cases of every mask and dtype, with every kernel that has such a launch.
inline void compare_with_oracle(RankResources& resources, RingAlgorithm algorithm, Sharding sharding,
                                int cases, RingLaunch launch = RingLaunch::steps) {
  Random random(static_cast<std::uint64_t>(resources.ranks() * 100 + static_cast<int>(algorithm) * 10 +
                                           static_cast<int>(sharding)));
  std::deque<AttentionProblem> problems;
  std::deque<ExpectedRows> expected;
  std::vector<RingRun> runs;
  std::vector<std::size_t> problem_of;
  for (const Mask mask : {Mask::full, Mask::causal})
    for (const Dtype dtype : {Dtype::bf16, Dtype::fp32})
      for (int i = 0; i < cases; ++i) {
        Case work = random_ring_case(random, resources.ranks(), i % 2 == 0 ? 90 : 700, algorithm);
        work.device = DeviceKind::cuda;
        work.head_dim = one_of<std::int64_t>(random, {64, 128});
        work.mask = mask;
        work.dtype = dtype;
        Variant variant = random_ring_variant(random, resources.ranks(), algorithm, sharding);
        variant.change().rows = one_of(random, {KeyRows::automatic, KeyRows::gathered});
        problems.emplace_back(work, random);
        expected.emplace_back(problems.back(), sampled_rows(work, random, 60));
        variant.ring.launch = launch;
        if (launch == RingLaunch::persistent && variant.kernel().traversal == "sawtooth")
          variant.change().traversal = "auto";
        const bool persistent = Ring(work, variant).persistent();
        for (const Implementation* kernel : kernels_for(work)) {
          if (persistent && kernel->prepare_walk == nullptr) continue;
          variant.change().name = kernel->name;
          runs.push_back(
              {.problem = problems.back(), .variant = variant, .kernel = *kernel, .chunks = kSmallChunks});
          problem_of.push_back(problems.size() - 1);
        }
      }
  const std::vector<AttentionOutput> outputs = run_rings(runs, resources, 1);
  for (std::size_t i = 0; i < runs.size(); ++i)
    EXPECT_EQ(expected[problem_of[i]].mismatch(runs[i].problem.work, outputs[i]), "")
        << described(runs[i].problem.work, runs[i].variant);
}

}  // namespace hilbench
