#include "harness/costs/kernels.hpp"

#include <gtest/gtest.h>

namespace hilbench {
namespace {

// As nvcc 13 writes it; the second kernel calls a function that is not inlined.
constexpr std::string_view kLines = R"(compiler: nvcc 13.0.88
flags: -O3: any 75-real 80-real
source: kernels/cuda/shared/clear.cu 00ff
source: a file with spaces.cuh 11ee
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_ZN8hilbench4cuda45_GLOBAL__N__0123abcd_8_clear_cu_12345678_99995clearIfEEvPT_i' for 'sm_90a'
ptxas info    : Function properties for _ZN8hilbench4cuda45_GLOBAL__N__0123abcd_8_clear_cu_12345678_99995clearIfEEvPT_i
    16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 32 registers, used 1 barriers, 16 bytes cumulative stack size, 400 bytes smem
ptxas info    : Compile time = 1.5 ms
ptxas info    : Compiling entry function 'plain' for 'sm_80'
ptxas info    : Function properties for callee
    0 bytes stack frame, 99 bytes spill stores, 99 bytes spill loads
ptxas info    : Function properties for plain
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 255 registers, used 0 barriers
)";

double value(const CostRow& row, std::string_view name) {
  return row.costs.find(name)->second.value.value();
}

TEST(KernelCosts, AreReadFromTheWordsOfTheCompiler) {
  const KernelCosts costs = parse_kernel_costs(kLines);
  EXPECT_EQ(costs.basis.taken_with.at("compiler"), "nvcc 13.0.88");
  ASSERT_EQ(costs.rows.size(), 2u);
  const CostRow &plain = costs.rows[0], &clear = costs.rows[1];
  EXPECT_EQ(plain.text(), "sm_80/plain");
  EXPECT_EQ(value(plain, cost::kRegisters), 255);
  EXPECT_EQ(value(plain, cost::kSpilledBytes), 0);
  EXPECT_EQ(value(plain, cost::kStaticSharedBytes), 0);
  EXPECT_EQ(clear.group, "sm_90a");
  EXPECT_EQ(clear.name, "clear<float>");
  EXPECT_EQ(value(clear, cost::kRegisters), 32);
  EXPECT_EQ(value(clear, cost::kSpilledBytes), 8);
  EXPECT_EQ(value(clear, cost::kStaticSharedBytes), 400);
}

TEST(KernelCosts, TellWhatTheGpuCodeIsMadeOf) {
  const DeviceCode code = parse_kernel_costs(kLines).device_code;
  EXPECT_EQ(code.compiler, "nvcc 13.0.88");
  EXPECT_EQ(code.flags, "-O3: any 75-real 80-real");
  EXPECT_EQ(code.sources, (std::map<std::string, std::string>{{"kernels/cuda/shared/clear.cu", "00ff"},
                                                              {"a file with spaces.cuh", "11ee"}}));
}

TEST(KernelCosts, EqualNamesAreNumbered) {
  const std::string kernel = "Compiling entry function 'first' for 'sm_80'\nUsed 8 registers\n";
  const KernelCosts costs = parse_kernel_costs("compiler: x\n" + kernel + kernel);
  ASSERT_EQ(costs.rows.size(), 2u);
  EXPECT_EQ(costs.rows[0].name, "first");
  EXPECT_EQ(costs.rows[1].name, "first #2");
}

TEST(KernelCosts, ABuildWithoutCudaSaysSo) {
  const KernelCosts costs = parse_kernel_costs("absent: this build has no CUDA code\n");
  EXPECT_TRUE(costs.rows.empty());
  EXPECT_TRUE(costs.basis.taken_with.empty());
  EXPECT_EQ(costs.basis.absence, "this build has no CUDA code");
}

TEST(KernelCosts, OfThisBuildAreThereOrAbsentWithAReason) {
  const KernelCosts costs = kernel_costs();
  EXPECT_NE(costs.rows.empty(), costs.basis.absence.empty());
  EXPECT_EQ(costs.rows.empty(), costs.basis.taken_with.empty());
}

}  // namespace
}  // namespace hilbench
