#include "harness/commands/doctor.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <stdexcept>

#include "kernels/base/process/library.hpp"
#include "kernels/base/process/run_in_child.hpp"

namespace hilbench {
namespace {

TEST(Probe, BringsAFindingFromTheChild) {
  const ProbeFinding good = probe([] { return ProbeFinding{true, "all is well"}; }, 10);
  EXPECT_TRUE(good.works);
  EXPECT_EQ(good.text, "all is well");
  const ProbeFinding bad = probe([] { return ProbeFinding{.text = "not there"}; }, 10);
  EXPECT_FALSE(bad.works);
  EXPECT_EQ(bad.text, "not there");
}

TEST(Probe, TurnsAnExceptionIntoAFinding) {
  const ProbeFinding finding = probe([]() -> ProbeFinding { throw std::runtime_error("broken"); }, 10);
  EXPECT_FALSE(finding.works);
  EXPECT_EQ(finding.text, "broken");
}

TEST(Probe, OutlivesACrash) {
  const ProbeFinding finding = probe(
      []() -> ProbeFinding {
        raise(SIGKILL);
        return {true, ""};
      },
      10);
  EXPECT_FALSE(finding.works);
  EXPECT_NE(finding.text.find("signal 9"), std::string::npos) << finding.text;
}

TEST(Probe, OutlivesAHang) {
  const auto begin = std::chrono::steady_clock::now();
  const ProbeFinding finding = probe(
      []() -> ProbeFinding {
        for (;;) pause();
      },
      0.2);
  EXPECT_FALSE(finding.works);
  EXPECT_NE(finding.text.find("did not answer"), std::string::npos) << finding.text;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

TEST(LoadedLibrary, SaysWhatTheLoaderSaid) {
  const LoadedLibrary library({"libhilbench_nowhere.so.1", "libhilbench_nowhere.so.2"});
  EXPECT_FALSE(library);
  EXPECT_NE(library.why().find("libhilbench_nowhere.so.1"), std::string::npos) << library.why();
}

TEST(LoadedLibrary, FindsSymbolsOfTheFirstThatLoads) {
  const LoadedLibrary library({"libhilbench_nowhere.so.1", "libm.so.6"});
  ASSERT_TRUE(library);
  EXPECT_EQ(library.name(), "libm.so.6");
  const auto cosine = library.find<double(double)>("cos");
  ASSERT_NE(cosine, nullptr);
  EXPECT_EQ(cosine(0), 1);
  EXPECT_EQ(library.find<void()>("hilbench_nowhere"), nullptr);
}

TEST(Doctor, SaysWhetherTimesCanBeMeasuredWithoutCounters) {
  EXPECT_EQ(without_counters("", "driver 580 reads none"), "times yes, counters no: driver 580 reads none");
  EXPECT_EQ(without_counters("no code", "driver 580 reads none"),
            "times no: no code; counters no: driver 580 reads none");
}

TEST(Doctor, HasALineForEveryPart) {
  const std::string report = doctor_report();
  for (const char* part :
       {"processor", "  cores  ", "BLAS", "perf hardware events", "perf software events", "Vega",
        "Node.js, rsvg-convert", "NVIDIA driver", "NVML", "CUPTI", "cuBLAS", "cuDNN", "NCCL", "MPI"}) {
    const std::size_t at = report.find(part);
    ASSERT_NE(at, std::string::npos) << part;
  }
  EXPECT_NE(report.find("measuring on GPUs"), std::string::npos);
  EXPECT_NE(report.find("  works   processor"), std::string::npos) << report;
}

TEST(Doctor, AWrongChoiceOfBf16ProductsLeavesTheProcessor) {
  setenv("HILBENCH_BF16", "fast", 1);
  const std::string report = doctor_report();
  unsetenv("HILBENCH_BF16");
  const std::size_t begin = report.find("  works   processor");
  ASSERT_NE(begin, std::string::npos) << report;
  const std::string line = report.substr(begin, report.find('\n', begin) - begin);
  EXPECT_NE(line.find("threads by default"), std::string::npos) << line;
  EXPECT_TRUE(
      line.ends_with("dilated_cpu and peak skip bf16: HILBENCH_BF16 is 'fast', not amx, avx512 or widened"))
      << line;
}

}  // namespace
}  // namespace hilbench
