// The CUDA backward kernels compared with the oracle.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "tests/kernels/cuda/on_gpu.hpp"
#include "tests/kernels/gradient_problem.hpp"

namespace hilbench {
namespace {

Case backward_case(Random& random, std::int64_t longest) {
  Case work{.sequence_length = between(random, 1, longest),
            .pattern = {},
            .batch = between(random, 1, 2),
            .heads = between(random, 1, 5),
            .head_dim = one_of<std::int64_t>(random, {64, 128, 64, 128, 32, 96, 256, 40}),
            .dtype = one_of(random, {Dtype::fp32, Dtype::bf16, Dtype::fp16}),
            .mask = one_of(random, {Mask::full, Mask::causal}),
            .queries = one_of(random, {Queries::dilated, Queries::dilated, Queries::dense}),
            .head_offset = one_of(random, {HeadOffset::modulo, HeadOffset::contiguous, HeadOffset::none}),
            .branch_heads = one_of(random, {BranchHeads::all, BranchHeads::all, BranchHeads::partition}),
            .device = DeviceKind::cuda};
  work.kv_heads = one_of(random, {work.heads, between(random, 1, work.heads)});
  work.dropout = one_of(random, {0.0, 0.0, 0.125, 0.6});
  work.dropout_seed = between(random, 0, 1000);
  const std::int64_t n = work.sequence_length;
  for (std::int64_t branches = one_of<std::int64_t>(random, {1, 1, 2, 3}); branches > 0; --branches) {
    const std::int64_t w = one_of(random, {n, between(random, 1, n), between(random, 1, 2 * n)});
    work.pattern.push_back(
        {w, one_of(random, {std::int64_t{1}, std::min<std::int64_t>(w, between(random, 1, 8)),
                            between(random, 1, w)})});
  }
  return work;
}

KernelChoice backward_choice(Random& random, const Case& work) {
  KernelChoice choice;
  choice.order =
      one_of<std::string>(random, {"linear", "linear", "residue", "hilbert", "random", "snake", "morton"});
  choice.order_chunk = one_of<std::int64_t>(random, {0, 0, 16});
  choice.order_tensors = one_of(random, {OrderTensors::kv, OrderTensors::qkv});
  choice.key_visit = one_of(random, {KeyVisit::position, KeyVisit::slot});
  if (work.dropout > 0) choice.key_visit = KeyVisit::position;
  choice.rows = one_of(random, {KeyRows::automatic, KeyRows::gathered});
  choice.traversal = one_of<std::string>(random, {"auto", "head_major", "sawtooth", "longest_first"});
  return choice;
}

// Runs twice and expects the same bits.
Gradients gradients_on_gpu(Device& device, const GradientProblem& problem,
                           const Implementation& implementation, const KernelChoice& choice) {
  const Case& work = problem.work;
  const Index index = case_index(work, choice, implementation.tile_rows(work));
  const Buffer q = on_device(device, problem.q, work, work.heads, index.q_slots);
  const Buffer k = on_device(device, problem.k, work, work.kv_heads, index.k_slots);
  const Buffer v = on_device(device, problem.v, work, work.kv_heads, index.k_slots);
  const Buffer d_o = on_device(device, problem.d_o, work, work.heads, index.q_slots);
  Buffer o = on_device(device, problem.o, work, work.heads, {});
  Buffer lse = device.allocate(problem.lse.size() * sizeof(float));
  device.upload(problem.lse.data(), lse);
  Buffer d_q = device.allocate(q.bytes), d_k = device.allocate(k.bytes), d_v = device.allocate(v.bytes);
  const auto execution = implementation.prepare(work, choice, 1);
  execution->load(index);
  const auto run = [&] {
    for (Buffer* gradient : {&d_q, &d_k, &d_v}) device.fill(*gradient, std::byte{0xff});  // NaN
    execution->run({.q = q.data(),
                    .k = k.data(),
                    .v = v.data(),
                    .o = o.data(),
                    .lse = static_cast<float*>(lse.data()),
                    .d_o = d_o.data(),
                    .d_q = d_q.data(),
                    .d_k = d_k.data(),
                    .d_v = d_v.data()},
                   index);
    device.synchronize();
    const auto fetched = [&](const Buffer& from, std::size_t elements, std::int64_t heads,
                             const std::vector<std::int32_t>& slots) {
      const Bytes bytes = hwy::AllocateAligned<std::byte>(from.bytes);
      device.download(from, bytes.get());
      return problem.in_positions(bytes, elements, heads, slots);
    };
    return Gradients{fetched(d_q, problem.q.size(), work.heads, index.q_slots),
                     fetched(d_k, problem.k.size(), work.kv_heads, index.k_slots),
                     fetched(d_v, problem.v.size(), work.kv_heads, index.k_slots)};
  };
  const Gradients first = run(), again = run();
  EXPECT_TRUE(first.q == again.q && first.k == again.k && first.v == again.v) << "two runs differ";
  return first;
}

int compare_with_oracle(int first_seed, int cases, std::int64_t longest) {
  const auto device = open_cuda_device(0);
  int compared = 0;
  for (int i = 0; i < cases; ++i) {
    const auto seed = static_cast<std::uint64_t>(first_seed + i);
    Random random(seed);
    const GradientProblem problem(backward_case(random, longest), random);
    const ExpectedGradients expected(problem, 30, random);
    for (const Implementation* implementation : kernels_for(problem.work)) {
      KernelChoice choice = backward_choice(random, problem.work);
      choice.name = implementation->name;
      SCOPED_TRACE(testing::Message()
                   << "seed " << seed << " " << case_id(problem.work) << " " << variant_id({choice}));
      EXPECT_EQ(expected.mismatch(gradients_on_gpu(*device, problem, *implementation, choice)), "");
      ++compared;
    }
  }
  return compared;
}

class CudaBackwardProperty : public testing::TestWithParam<int> {};

TEST_P(CudaBackwardProperty, EqualsTheOracle) {
  constexpr int kCasesABlock = 50;
  if (!survey().absence.empty()) GTEST_SKIP() << survey().absence;
  EXPECT_GE(compare_with_oracle(GetParam() * kCasesABlock, kCasesABlock, 600), kCasesABlock);
}

INSTANTIATE_TEST_SUITE_P(Blocks, CudaBackwardProperty, testing::Range(0, 10));

// Few and small cases, for the sanitizers.
TEST(CudaBackwardSmall, EqualsTheOracle) {
  if (!survey().absence.empty()) GTEST_SKIP() << survey().absence;
  EXPECT_GE(compare_with_oracle(10000, 12, 200), 12);
}

// Many tiles of each kind.
TEST(CudaBackward, LongCasesEqualTheOracle) {
  if (!survey().absence.empty()) GTEST_SKIP() << survey().absence;
  const auto device = open_cuda_device(0);
  Random random(5);
  int compared = 0;
  for (const Mask mask : {Mask::full, Mask::causal})
    for (const std::int64_t head_dim : {64, 128}) {
      const Case work{.sequence_length = 1999,
                      .pattern = {{900, 3}, {1999, 1}},
                      .heads = 4,
                      .kv_heads = 2,
                      .head_dim = head_dim,
                      .dtype = head_dim == 64 ? Dtype::fp32 : Dtype::bf16,
                      .mask = mask,
                      .device = DeviceKind::cuda};
      const GradientProblem problem(work, random);
      const ExpectedGradients expected(problem, 60, random);
      for (const Implementation* implementation : kernels_for(problem.work))
        for (const char* order : {"linear", "hilbert"}) {
          const KernelChoice choice{.name = std::string(implementation->name), .order = order};
          SCOPED_TRACE(testing::Message() << case_id(problem.work) << " " << variant_id({choice}));
          EXPECT_EQ(expected.mismatch(gradients_on_gpu(*device, problem, *implementation, choice)), "");
          ++compared;
        }
    }
  EXPECT_GE(compared, 8);
}

}  // namespace
}  // namespace hilbench
