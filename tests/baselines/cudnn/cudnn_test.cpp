#include "baselines/cudnn/cudnn.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>

#include "baselines/cublas/cublas.hpp"

namespace hilbench {
namespace {

const Case kOrdinary{.kv_heads = 8, .dtype = Dtype::bf16, .device = DeviceKind::cuda};
constexpr std::array kRivals = {&kCublas, &kCudnn, &kCudnnGather};

std::string reason(const Implementation& implementation, const Case& work) {
  return implementation.why_not(work, {}).value_or("");
}

class RivalsUnsupported : public testing::Test {
 protected:
  void SetUp() override {
    if (reason(kCudnn, kOrdinary).find("this build has no") != std::string::npos)
      GTEST_SKIP() << reason(kCudnn, kOrdinary);
  }
};

TEST_F(RivalsUnsupported, NothingOfAnOrdinaryCase) {
  for (const Implementation* implementation : kRivals)
    EXPECT_EQ(reason(*implementation, kOrdinary), "") << implementation->name;
}

TEST_F(RivalsUnsupported, GivesTheReason) {
  Case causal = kOrdinary;
  causal.mask = Mask::causal;
  causal.queries = Queries::dense;
  causal.pattern = {{2048, 2}};
  for (const Implementation* implementation : kRivals) {
    EXPECT_NE(reason(*implementation, causal).find("dense queries"), std::string::npos)
        << implementation->name;
    Case branches = kOrdinary;
    branches.pattern.assign(33, {2048, 1});
    EXPECT_NE(reason(*implementation, branches).find("branches"), std::string::npos) << implementation->name;
  }
  Case backward = kOrdinary;
  backward.pass = Pass::backward;
  EXPECT_EQ(reason(kCudnn, backward), "");
  EXPECT_EQ(reason(kCublas, backward), "");
  EXPECT_NE(reason(kCudnnGather, backward).find("forward"), std::string::npos);
  backward.sequence_length = 65;
  backward.pattern = {{64, 32}};
  EXPECT_NE(reason(kCudnn, backward).find("one query and one key"), std::string::npos);
  backward.sequence_length = 66;
  backward.queries = Queries::dense;
  EXPECT_EQ(reason(kCudnn, backward), "");
  causal.pattern = {{2048, 1}};  // without dilation dense queries are the usual ones
  EXPECT_EQ(reason(kCudnn, causal), "");
  Case fp32 = kOrdinary;
  fp32.dtype = Dtype::fp32;
  EXPECT_NE(reason(kCudnn, fp32).find("bf16"), std::string::npos);
  EXPECT_EQ(reason(kCublas, fp32), "");
  Case odd = kOrdinary;
  odd.head_dim = 60;
  EXPECT_NE(reason(kCudnn, odd).find("multiple of 8"), std::string::npos);
  Case far = kOrdinary;
  far.pattern = {{1 << 24, 1 << 23}};
  EXPECT_NE(reason(kCublas, far).find("leading dimension"), std::string::npos);
}

TEST_F(RivalsUnsupported, OldGpu) {
  EXPECT_NE(kCudnn.why_not_on({.compute_capability = 75}).value_or("").find("8.0"), std::string::npos);
}

// Planning loads no library, and does not overflow at sizes that only a plan has.
TEST(Rivals, PlanWithoutLoadingALibrary) {
  Case huge = kOrdinary;
  huge.sequence_length = huge.heads = huge.kv_heads = huge.batch = std::int64_t{1} << 40;
  huge.pattern = {{std::int64_t{1} << 40, 1}, {1 << 20, 4}};
  for (const Pass pass : {Pass::forward, Pass::backward})
    for (const Implementation* implementation : kRivals) {
      huge.pass = pass;
      static_cast<void>(reason(*implementation, huge));
      EXPECT_GE(implementation->workspace_bytes(huge, 1), 0) << implementation->name;
    }
  for (const char* library : {"libcublas.so.13", "libcublas.so.12", "libcudnn.so.9"})
    EXPECT_EQ(dlopen(library, RTLD_NOW | RTLD_NOLOAD), nullptr) << library;
}

TEST(Rivals, CountTheBuffersOfBranches) {
  if (!reason(kCudnn, kOrdinary).empty()) GTEST_SKIP() << reason(kCudnn, kOrdinary);
  Case work = kOrdinary;
  work.sequence_length = 1024;
  work.head_dim = 64;
  work.pattern = {{1024, 2}};
  const double offsets = 4 * (8 + 8);
  // Directly into O; or with copies of Q, K, V and O, and LSE, of 512 rows of 8 heads.
  EXPECT_EQ(kCudnn.workspace_bytes(work, 1), offsets);
  EXPECT_EQ(kCudnnGather.workspace_bytes(work, 1), offsets + 512 * 8 * (4 * 64 * 2 + 4));
  // Two branches: the second has an O of its own, both an LSE.
  work.pattern = {{1024, 2}, {1024, 4}};
  EXPECT_EQ(kCudnn.workspace_bytes(work, 1), 2 * offsets + 1024 * 8 * (64 * 2 + 2 * 4));
}

TEST(Rivals, CountTheSumsOfGradients) {
  if (!reason(kCudnn, kOrdinary).empty()) GTEST_SKIP() << reason(kCudnn, kOrdinary);
  Case work = kOrdinary;
  work.sequence_length = 1024;
  work.head_dim = 64;
  work.pass = Pass::backward;
  work.pattern = {{1024, 1}};
  const double rows = 1024 * 8, of_cudnn = rows * (4 + 4 * 64);
  EXPECT_EQ(kCudnn.workspace_bytes(work, 1), of_cudnn);
  // Two branches: of each gradient, a sum in fp32 and what one call adds to it.
  work.pattern = {{1024, 1}, {1024, 4}};
  EXPECT_EQ(kCudnn.workspace_bytes(work, 1), of_cudnn + 3 * rows * 64 * (4 + 2));
  // D; scores and dP in fp32, P and dS in bf16, of all problems at once; the sums.
  work.pattern = {{1024, 1}};
  EXPECT_EQ(kCublas.workspace_bytes(work, 1),
            4 * rows + 8.0 * 1024 * 1024 * (4 + 4 + 2 + 2) + 3 * rows * 64 * 4);
}

}  // namespace
}  // namespace hilbench
