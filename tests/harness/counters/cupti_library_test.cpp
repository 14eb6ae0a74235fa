#include "harness/counters/cupti_library.hpp"

#include <gtest/gtest.h>

namespace hilbench {
namespace {

constexpr int kCupti12_9 = 28, kCupti12_5 = 23, kCupti13_0 = 130001;

std::string why_not(CounterTarget gpu, const std::string& driver, int driver_cuda, int cupti) {
  return why_not_countable(
      CountingSite{.gpu = gpu, .driver = driver, .driver_cuda = driver_cuda, .cupti = cupti});
}

TEST(CountingSite, ADriverOfBranch580ReadsNoneBelowTuring) {
  for (const CounterTarget gpu : {60, 61, 70, 72}) {
    const std::string name = gpu < 70 ? "Pascal" : "Volta";
    EXPECT_EQ(why_not(gpu, "580.65.06", 13000, kCupti12_9),
              "driver 580.65.06 reads none on " + name + "; install driver 575 or older");
    EXPECT_EQ(why_not(gpu, "", 13000, kCupti12_9),
              "this driver of CUDA 13.0 reads none on " + name + "; install driver 575 or older");
    EXPECT_EQ(why_not(gpu, "575.57.08", 12090, kCupti12_9), "");
    EXPECT_EQ(why_not(gpu, "", 12090, kCupti12_9), "");
  }
  for (const CounterTarget gpu : {75, 80, 90})
    EXPECT_EQ(why_not(gpu, "580.65.06", 13000, kCupti13_0), "") << gpu;
}

TEST(CountingSite, TheDriversOwnNumberComesBeforeThatOfCuda) {
  EXPECT_EQ(why_not(61, "575.57.08", 13000, kCupti12_9), "") << "with a compatibility package";
}

TEST(CountingSite, TheCuptiOfCuda13ReadsNoneBelowTuring) {
  EXPECT_EQ(
      why_not(61, "575.57.08", 13000, kCupti13_0),
      "CUPTI of CUDA 13 (API 130001) reads none on Pascal; put the CUPTI of CUDA 12 on LD_LIBRARY_PATH, or "
      "name it in HILBENCH_CUPTI");
  EXPECT_EQ(why_not(61, "470.82", 12000, 18), "") << "CUDA 11.8";
}

TEST(CountingSite, ACuptiNewerThanTheDriver) {
  for (const CounterTarget gpu : {61, 80})
    EXPECT_EQ(
        why_not(gpu, "570.86.10", 12080, kCupti13_0),
        "CUPTI of CUDA 13 (API 130001) is too new for this driver of CUDA 12.8; install a newer driver, or "
        "name the CUPTI of CUDA 12 in HILBENCH_CUPTI");
  EXPECT_EQ(why_not(80, "", 0, kCupti13_0), "") << "of an unknown driver nothing is known";
}

TEST(CountingSite, RangesNeedCuda12_6) {
  EXPECT_EQ(why_not(80, "580.65.06", 13000, kCupti12_5),
            "CUPTI of CUDA 12 (API 23) is too old for compute capability 8.0; put the CUPTI of CUDA 12.6 or "
            "newer on "
            "LD_LIBRARY_PATH, or name it in HILBENCH_CUPTI");
  EXPECT_EQ(why_not(80, "580.65.06", 13000, 24), "");
  EXPECT_EQ(why_not(61, "575.57.08", 12090, kCupti12_5), "") << "events need no ranges";
}

TEST(CuptiLibrary, SaysOfWhichCudaItIs) {
  EXPECT_EQ(cupti_text(12), "CUPTI of CUDA 10 (API 12)");
  EXPECT_EQ(cupti_text(18), "CUPTI of CUDA 11 (API 18)");
  EXPECT_EQ(cupti_text(19), "CUPTI of CUDA 12 (API 19)");
  EXPECT_EQ(cupti_text(130001), "CUPTI of CUDA 13 (API 130001)");
}

TEST(CuptiLibrary, SetsOfOtherBackendsNeedNone) {
  EXPECT_EQ(why_not_countable(*find_counter_set("default", kCpuTarget)), "");
}

}  // namespace
}  // namespace hilbench
