// The CUDA baselines against the oracle.
#include <gtest/gtest.h>

#include "baselines/branches/attention_calls.hpp"
#include "baselines/cublas/cublas.hpp"
#include "baselines/cudnn/cudnn.hpp"
#include "kernels/cuda/runtime/device_memory.hpp"
#include "tests/kernels/gradient_problem.hpp"

namespace hilbench {
namespace {

using cuda::DeviceMemory;

DeviceMemory<std::byte> on_device(const std::vector<float>& values, Dtype dtype) {
  std::vector<std::byte> bytes(values.size() * static_cast<std::size_t>(dtype_bytes(dtype)));
  narrow(dtype, values, bytes.data());
  return DeviceMemory<std::byte>(bytes);
}

// O and LSE of the second run into poisoned memory; measured() must not change them.
AttentionOutput run_on_gpu(const Implementation& implementation, const AttentionProblem& problem) {
  const Case& work = problem.work;
  const DeviceMemory<std::byte> q = on_device(problem.q, work.dtype), k = on_device(problem.k, work.dtype),
                                v = on_device(problem.v, work.dtype);
  std::vector<std::byte> o(problem.q.size() * static_cast<std::size_t>(dtype_bytes(work.dtype)),
                           std::byte{0xff});
  AttentionOutput output{std::vector<float>(problem.q.size()),
                         std::vector<float>(problem.q.size() / static_cast<std::size_t>(work.head_dim),
                                            std::numeric_limits<float>::quiet_NaN())};
  const DeviceMemory<std::byte> device_o(o);
  const DeviceMemory<float> device_lse(output.lse);
  const Operands operands{q.data(), k.data(), v.data(), device_o.data(), device_lse.data()};
  const auto execution = implementation.prepare(work, {}, 1);
  execution->tune(operands);
  for (const auto& [name, choice] : execution->choices()) EXPECT_NE(choice, "") << name;
  execution->run(operands, {});
  HILBENCH_CUDA(cudaMemset(device_o.data(), 0xff, o.size()));
  HILBENCH_CUDA(cudaMemset(device_lse.data(), 0xff, output.lse.size() * sizeof(float)));
  execution->run(operands, {});
  for (const auto& [name, counter] : execution->measured()) EXPECT_GE(counter.value.value_or(-1), 0) << name;
  HILBENCH_CUDA(cudaMemcpy(o.data(), device_o.data(), o.size(), cudaMemcpyDeviceToHost));
  HILBENCH_CUDA(cudaMemcpy(output.lse.data(), device_lse.data(), output.lse.size() * sizeof(float),
                           cudaMemcpyDeviceToHost));
  widen(work.dtype, o.data(), output.o);
  return output;
}

void expect_equals_reference(const AttentionProblem& problem, const ExpectedRows& expected) {
  for (const Implementation* implementation : {&kCublas, &kCudnn, &kCudnnGather}) {
    if (implementation->why_not(problem.work, {})) continue;
    const Scores scores = implementation->stores_scores ? Scores::stored : Scores::fp32;
    EXPECT_EQ(expected.mismatch(problem.work, run_on_gpu(*implementation, problem), scores), "")
        << implementation->name << " " << case_id(problem.work);
  }
}

Case random_case(Random& random) {
  Case work;
  work.device = DeviceKind::cuda;
  work.sequence_length = between(random, 1, 300);
  work.pattern.clear();
  for (std::int64_t branches = between(random, 1, 3); branches > 0; --branches) {
    const std::int64_t length = between(random, 1, 320);
    work.pattern.push_back({length, between(random, 1, std::min<std::int64_t>(length, 9))});
  }
  work.batch = between(random, 1, 3);
  work.kv_heads = between(random, 1, 6);
  work.heads =
      between(random, 0, 1) != 0 ? work.kv_heads * between(random, 1, 3) : between(random, work.kv_heads, 12);
  work.dtype = one_of(random, {Dtype::bf16, Dtype::fp16, Dtype::fp32});
  work.head_dim = work.dtype == Dtype::fp32 ? between(random, 1, 80) : 8 * between(random, 1, 16);
  work.mask = one_of(random, {Mask::full, Mask::causal});
  work.queries = one_of(random, {Queries::dilated, Queries::dilated, Queries::dense});
  work.head_offset = one_of(random, {HeadOffset::modulo, HeadOffset::contiguous, HeadOffset::none});
  work.branch_heads = one_of(random, {BranchHeads::all, BranchHeads::partition});
  return work;
}

// Gradients of the second run, into poisoned memory.
Gradients gradients_on_gpu(const Implementation& implementation, const GradientProblem& problem) {
  const Case& work = problem.work;
  const DeviceMemory<std::byte> q = on_device(problem.q, work.dtype), k = on_device(problem.k, work.dtype),
                                v = on_device(problem.v, work.dtype),
                                d_o = on_device(problem.d_o, work.dtype),
                                o = on_device(problem.o, work.dtype);
  const DeviceMemory<float> lse(problem.lse);
  const auto bytes_of = [&](const std::vector<float>& values) {
    return values.size() * static_cast<std::size_t>(dtype_bytes(work.dtype));
  };
  const DeviceMemory<std::byte> d_q(bytes_of(problem.q)), d_k(bytes_of(problem.k)), d_v(bytes_of(problem.v));
  const Operands operands{.q = q.data(),
                          .k = k.data(),
                          .v = v.data(),
                          .o = o.data(),
                          .lse = lse.data(),
                          .d_o = d_o.data(),
                          .d_q = d_q.data(),
                          .d_k = d_k.data(),
                          .d_v = d_v.data()};
  const auto execution = implementation.prepare(work, {}, 1);
  execution->tune(operands);
  execution->run(operands, {});
  for (const DeviceMemory<std::byte>* gradient : {&d_q, &d_k, &d_v})
    HILBENCH_CUDA(cudaMemset(gradient->data(), 0xff, gradient->size()));
  execution->run(operands, {});
  const auto fetched = [&](const DeviceMemory<std::byte>& from, std::size_t elements) {
    std::vector<std::byte> stored(from.size());
    HILBENCH_CUDA(cudaMemcpy(stored.data(), from.data(), from.size(), cudaMemcpyDeviceToHost));
    std::vector<float> values(elements);
    widen(work.dtype, stored.data(), values);
    return values;
  };
  return {fetched(d_q, problem.q.size()), fetched(d_k, problem.k.size()), fetched(d_v, problem.v.size())};
}

void expect_gradients_of_reference(const GradientProblem& problem, Random& random) {
  const ExpectedGradients expected(problem, 40, random);
  for (const Implementation* implementation : {&kCublas, &kCudnn}) {
    if (implementation->why_not(problem.work, {})) continue;
    EXPECT_EQ(expected.mismatch(gradients_on_gpu(*implementation, problem)), "")
        << implementation->name << " " << case_id(problem.work);
  }
}

class CudaRivals : public testing::Test {
 protected:
  void SetUp() override {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) GTEST_SKIP() << "no CUDA device";
  }
};

TEST_F(CudaRivals, EqualTheReferenceForRandomShapesAndEveryOption) {
  Random random(11);
  for (int i = 0; i < 60; ++i) {
    const AttentionProblem problem(random_case(random), random);
    expect_equals_reference(problem, ExpectedRows(problem, sampled_rows(problem.work, random, 40)));
    if (HasFailure()) return;
  }
}

// Several blocks of scores, several segments, the tiles of cuDNN and rows in more than one softmax shape.
TEST_F(CudaRivals, EqualTheReferenceBeyondOneBlock) {
  Random random(12);
  for (const Mask mask : {Mask::full, Mask::causal})
    for (const HeadOffset offset : {HeadOffset::modulo, HeadOffset::none})
      for (const std::vector<Branch>& pattern :
           {std::vector<Branch>{{9000, 1}}, {{4096, 4}}, {{2048, 1}, {5000, 3}, {9000, 16}}}) {
        Case work{.sequence_length = 9000, .pattern = pattern, .heads = 2, .kv_heads = 2, .head_dim = 128};
        work.dtype = Dtype::bf16;
        work.mask = mask;
        work.head_offset = offset;
        work.device = DeviceKind::cuda;
        const AttentionProblem problem(work, random);
        expect_equals_reference(problem, ExpectedRows(problem, sampled_rows(work, random, 8)));
      }
}

TEST_F(CudaRivals, GradientsEqualTheReferenceForRandomShapesAndEveryOption) {
  Random random(13);
  for (int i = 0; i < 40; ++i) {
    Case work = random_case(random);
    // cuDNN has no backward pass of calls with one query and one key.
    for (Branch& branch : work.pattern)
      branch = {branch.segment_length + 20, std::min<std::int64_t>(branch.dilation, 5)};
    work.sequence_length += 20;
    if (work.dtype != Dtype::fp32) work.head_dim = std::min<std::int64_t>(work.head_dim, 128);
    expect_gradients_of_reference(GradientProblem(work, random), random);
    if (HasFailure()) return;
  }
}

// Several blocks of scores, and gradients that several query heads and branches add to.
TEST_F(CudaRivals, GradientsEqualTheReferenceBeyondOneBlock) {
  Random random(14);
  for (const Mask mask : {Mask::full, Mask::causal})
    for (const std::vector<Branch>& pattern :
         {std::vector<Branch>{{3000, 1}}, {{1024, 4}}, {{512, 1}, {2048, 4}, {3000, 16}}}) {
      Case work{.sequence_length = 3000, .pattern = pattern, .heads = 4, .kv_heads = 2, .head_dim = 128};
      work.dtype = Dtype::bf16;
      work.mask = mask;
      work.device = DeviceKind::cuda;
      expect_gradients_of_reference(GradientProblem(work, random), random);
    }
}

}  // namespace
}  // namespace hilbench
