#include "harness/gate/figures_kernels.hpp"

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

double value(const FigureRow& row, std::string_view name) {
  return row.figures.find(name)->second.value.value();
}

TEST(KernelFigures, AreReadFromTheWordsOfTheCompiler) {
  const KernelFigures figures = parse_kernel_figures(kLines);
  EXPECT_EQ(figures.basis.taken_with.at("compiler"), "nvcc 13.0.88");
  ASSERT_EQ(figures.rows.size(), 2u);
  const FigureRow &plain = figures.rows[0], &clear = figures.rows[1];
  EXPECT_EQ(plain.text(), "sm_80/plain");
  EXPECT_EQ(value(plain, figure::kRegisters), 255);
  EXPECT_EQ(value(plain, figure::kSpilledBytes), 0);
  EXPECT_EQ(value(plain, figure::kStaticSharedBytes), 0);
  EXPECT_EQ(clear.group, "sm_90a");
  EXPECT_EQ(clear.name, "clear<float>");
  EXPECT_EQ(value(clear, figure::kRegisters), 32);
  EXPECT_EQ(value(clear, figure::kSpilledBytes), 8);
  EXPECT_EQ(value(clear, figure::kStaticSharedBytes), 400);
}

TEST(KernelFigures, TellWhatTheGpuCodeIsMadeOf) {
  const DeviceCode code = parse_kernel_figures(kLines).device_code;
  EXPECT_EQ(code.compiler, "nvcc 13.0.88");
  EXPECT_EQ(code.flags, "-O3: any 75-real 80-real");
  EXPECT_EQ(code.sources, (std::map<std::string, std::string>{{"kernels/cuda/shared/clear.cu", "00ff"},
                                                              {"a file with spaces.cuh", "11ee"}}));
}

TEST(KernelFigures, EqualNamesAreNumbered) {
  const std::string kernel = "Compiling entry function 'first' for 'sm_80'\nUsed 8 registers\n";
  const KernelFigures figures = parse_kernel_figures("compiler: x\n" + kernel + kernel);
  ASSERT_EQ(figures.rows.size(), 2u);
  EXPECT_EQ(figures.rows[0].name, "first");
  EXPECT_EQ(figures.rows[1].name, "first #2");
}

TEST(KernelFigures, ABuildWithoutCudaSaysSo) {
  const KernelFigures figures = parse_kernel_figures("absent: this build has no CUDA code\n");
  EXPECT_TRUE(figures.rows.empty());
  EXPECT_TRUE(figures.basis.taken_with.empty());
  EXPECT_EQ(figures.basis.absence, "this build has no CUDA code");
}

TEST(KernelFigures, OfThisBuildAreThereOrAbsentWithAReason) {
  const KernelFigures figures = kernel_figures();
  EXPECT_NE(figures.rows.empty(), figures.basis.absence.empty());
  EXPECT_EQ(figures.rows.empty(), figures.basis.taken_with.empty());
}

}  // namespace
}  // namespace hilbench
