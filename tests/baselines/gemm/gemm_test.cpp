#include "baselines/gemm/gemm.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "baselines/gemm/blas.hpp"
#include "baselines/reference.hpp"
#include "kernels/case/rounding.hpp"
#include "kernels/machine/host_memory.hpp"
#include "tests/kernels/random_case.hpp"
#include "tests/sanitized.hpp"

namespace hilbench {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A tensor in the case's dtype, and its values widened.
struct Tensor {
  std::vector<float> values;
  std::vector<float> fp32;
  std::vector<std::uint16_t> bf16;
  const void* data() const {
    return bf16.empty() ? static_cast<const void*>(fp32.data()) : static_cast<const void*>(bf16.data());
  }
};

// Normal values, every 50th ten times as large.
Tensor random_tensor(Dtype dtype, std::int64_t elements, std::mt19937_64& random) {
  std::normal_distribution<float> normal;
  Tensor tensor;
  for (std::int64_t i = 0; i < elements; ++i) {
    const float value = normal(random) * (random() % 50 == 0 ? 10.0f : 1.0f);
    tensor.values.push_back(round_to(dtype, value));
    if (dtype == Dtype::bf16)
      tensor.bf16.push_back(bf16_bits(value));
    else
      tensor.fp32.push_back(value);
  }
  return tensor;
}

struct Output {
  std::vector<float> o, lse;
};

// O and LSE of one run into poisoned buffers.
Output run_gemm(const Case& work, const Tensor& q, const Tensor& k, const Tensor& v, int threads) {
  const auto rows = static_cast<std::size_t>(work.batch * work.sequence_length * work.heads);
  const std::size_t elements = rows * static_cast<std::size_t>(work.head_dim);
  std::vector<float> fp32(elements, std::nanf(""));
  std::vector<std::uint16_t> bf16(elements, 0x7fc0);
  Output output{{}, std::vector<float>(rows, std::nanf(""))};
  const bool narrow = work.dtype == Dtype::bf16;
  const Operands operands{q.data(), k.data(), v.data(),
                          narrow ? static_cast<void*>(bf16.data()) : static_cast<void*>(fp32.data()),
                          output.lse.data()};
  const auto execution = kGemm.prepare(work, {}, threads);
  execution->run(operands, {});
  execution->run(operands, {});  // a run leaves nothing behind
  for (std::size_t i = 0; i < elements; ++i) output.o.push_back(narrow ? bf16_value(bf16[i]) : fp32[i]);
  return output;
}

// Every row against the oracle; the tolerance is twice the largest error of plain evaluation, and a floor of
// a few units in the last place of the largest value.
void expect_equals_reference(const Case& work, std::mt19937_64& random, int threads) {
  const std::int64_t positions = work.batch * work.sequence_length;
  const Tensor q = random_tensor(work.dtype, positions * work.heads * work.head_dim, random);
  const Tensor k = random_tensor(work.dtype, positions * work.kv_heads * work.head_dim, random);
  const Tensor v = random_tensor(work.dtype, positions * work.kv_heads * work.head_dim, random);
  const Output output = run_gemm(work, q, k, v, threads);
  const ReferenceInputs inputs{q.values, k.values, v.values};
  double error = 0, lse_error = 0, plain_error = 0, plain_lse_error = 0, largest = 1;
  for (std::int64_t row = 0; row < positions * work.heads; ++row) {
    const RowId id{row / work.heads / work.sequence_length, row % work.heads,
                   row / work.heads % work.sequence_length};
    const ReferenceRow exact = reference_row(work, inputs, id), plain = plain_row(work, inputs, id);
    const double lse = output.lse[static_cast<std::size_t>(row)];
    if (exact.lse == -kInfinity) {
      ASSERT_EQ(lse, -kInfinity);
    } else {
      ASSERT_TRUE(std::isfinite(lse));
      lse_error = std::max(lse_error, std::fabs(lse - exact.lse));
      plain_lse_error = std::max(plain_lse_error, std::fabs(plain.lse - exact.lse));
      largest = std::max(largest, std::fabs(exact.lse));
    }
    for (std::size_t d = 0; d < exact.o.size(); ++d) {
      const double o = output.o[static_cast<std::size_t>(row * work.head_dim) + d];
      ASSERT_TRUE(std::isfinite(o));
      ASSERT_TRUE(exact.lse != -kInfinity || o == 0) << "uncovered row " << row;
      error = std::max(error, std::fabs(o - exact.o[d]));
      plain_error = std::max(plain_error, std::fabs(plain.o[d] - exact.o[d]));
      largest = std::max(largest, std::fabs(exact.o[d]));
    }
  }
  const double floor = 4 * largest * std::numeric_limits<float>::epsilon();
  EXPECT_LE(error, 2 * plain_error + floor);
  EXPECT_LE(lse_error, 2 * plain_lse_error + floor);
}

class Gemm : public testing::Test {
 protected:
  void SetUp() override {
    if (!blas_absence().empty()) GTEST_SKIP() << blas_absence();
  }
};

TEST_F(Gemm, EqualsTheReferenceForRandomShapesAndEveryOption) {
  std::mt19937_64 random(4);
  for (int i = 0; i < (kSanitized ? 30 : 150); ++i) {
    const Case work = random_case(random, 90);
    SCOPED_TRACE(case_id(work));
    expect_equals_reference(work, random, 1 + i % 3);
    if (HasFailure()) return;
  }
}

// More rows and keys than one block holds, and a last block that is not full.
TEST_F(Gemm, EqualsTheReferenceBeyondOneBlock) {
  std::mt19937_64 random(5);
  for (const Mask mask : {Mask::full, Mask::causal})
    for (const Queries queries : {Queries::dilated, Queries::dense})
      for (const Dtype dtype : {Dtype::fp32, Dtype::bf16}) {
        if (kSanitized && (mask == Mask::causal) != (dtype == Dtype::bf16)) continue;
        const Case work{.sequence_length = 1111,
                        .pattern = {{700, 1}, {1111, 2}},
                        .heads = 2,
                        .kv_heads = 1,
                        .head_dim = 24,
                        .dtype = dtype,
                        .mask = mask,
                        .queries = queries};
        SCOPED_TRACE(case_id(work));
        expect_equals_reference(work, random, 2);
      }
}

TEST_F(Gemm, PagesOfItsWorkspacesDoNotChangeTheOutput) {
  std::mt19937_64 random(5);
  Case work{.sequence_length = 80, .pattern = {{40, 2}, {80, 1}}, .heads = 2, .kv_heads = 2, .head_dim = 16};
  work.dtype = Dtype::bf16;  // which needs every workspace
  const std::int64_t elements = work.sequence_length * work.heads * work.head_dim;
  const Tensor q = random_tensor(work.dtype, elements, random),
               k = random_tensor(work.dtype, elements, random),
               v = random_tensor(work.dtype, elements, random);
  const Output usual = run_gemm(work, q, k, v, 2);
  for (const PageSize pages : {PageSize::of_4k, PageSize::of_2m}) {
    work.pages = pages;
    EXPECT_EQ(huge_share(), std::nullopt);
    const auto execution = kGemm.prepare(work, {}, 2);
    EXPECT_TRUE(huge_share()) << "its workspaces are where they are looked for";
    const Output output = run_gemm(work, q, k, v, 2);
    EXPECT_EQ(output.o, usual.o) << to_string(pages);
    EXPECT_EQ(output.lse, usual.lse) << to_string(pages);
  }
}

TEST(GemmUnsupported, GivesTheReason) {
  Case work{.kv_heads = 8};
  work.pass = Pass::backward;
  EXPECT_NE(kGemm.why_not(work, {}).value_or("").find("forward"), std::string::npos);
  work.pass = Pass::forward;
  work.dtype = Dtype::fp16;
  EXPECT_NE(kGemm.why_not(work, {}).value_or("").find("bf16"), std::string::npos);
}

TEST(GemmWorkspace, CountsGatheredRowsAndBlocks) {
  const Case work{.sequence_length = 1024, .pattern = {{1024, 2}}, .heads = 2, .kv_heads = 2, .head_dim = 64};
  // K and V: 512 keys of 2 heads; one thread's block: 256 rows of 256 scores, Q, O and three numbers.
  EXPECT_EQ(kGemm.workspace_bytes(work, 1), 4.0 * (2 * 512 * 2 * 64 + 256 * (256 + 128 + 3)));
}

}  // namespace
}  // namespace hilbench
