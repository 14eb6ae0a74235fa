#include "baselines/gemm/blas.hpp"

#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kernels/base/text/error.hpp"
#include "tests/process_memory.hpp"
#include "tests/sanitized.hpp"

namespace hilbench {
namespace {

std::string upper_case(std::string text) {
  for (char& letter : text) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  return text;
}

class Blas : public testing::Test {
 protected:
  void SetUp() override {
    if (!blas_absence().empty()) GTEST_SKIP() << blas_absence();
  }
};

// [1 2; 3 4] * [5 6; 7 8] = [19 22; 43 50], and with the second transposed [17 23; 39 53].
TEST_F(Blas, MultipliesRowMajor) {
  const std::vector<float> a = {1, 2, 3, 4}, b = {5, 6, 7, 8};
  std::vector<float> c(4, 1.0f);
  sgemm(Transposed::no, 2, 2, 2, 1, a.data(), 2, b.data(), 2, 0, c.data(), 2);
  EXPECT_EQ(c, (std::vector<float>{19, 22, 43, 50}));
  sgemm(Transposed::yes, 2, 2, 2, 2, a.data(), 2, b.data(), 2, 1, c.data(), 2);
  EXPECT_EQ(c, (std::vector<float>{19 + 34, 22 + 46, 43 + 78, 50 + 106}));
}

// OpenBLAS itself would try for ever.
TEST_F(Blas, RefusesToRunIfItsBuffersCannotBeMapped) {
  if (kSanitized) GTEST_SKIP() << "sanitizers map more than any limit";
  std::string said;
  const AddressLimit limit(1 << 30);
  try {
    expect_blas_buffers(1000);
  } catch (const EnvironmentError& error) {
    said = error.what();
  }
  EXPECT_NO_THROW(expect_blas_buffers(2));
  EXPECT_EQ(said, "OpenBLAS cannot map its 128000 MiB of buffers; raise the limit on memory (ulimit -v)");
}

TEST_F(Blas, RecordNamesLibraryCoreAndRate) {
  const nlohmann::json& record = blas_record();
  EXPECT_EQ(record.at("name"), "OpenBLAS");
  EXPECT_FALSE(record.at("version").get<std::string>().empty());
  EXPECT_FALSE(record.at("core").get<std::string>().empty());
  EXPECT_GT(record.at("sgemm_gflops").get<double>(), 0);
  // The note appears exactly if the products reach less than half of the peak.
  const bool slow = record.at("sgemm_gflops").get<double>() < record.at("fma_gflops").get<double>() / 2;
  EXPECT_EQ(!record.at("note").get<std::string>().empty(), slow);
}

TEST_F(Blas, RunsTheCoreTypeThatTheProcessorAsksFor) {
  const char* chosen = std::getenv("OPENBLAS_CORETYPE");
  if (chosen == nullptr && blas_core_type().empty()) GTEST_SKIP() << "OpenBLAS decides on this processor";
  ASSERT_NE(chosen, nullptr);
  // OpenBLAS, and whoever set the variable, may spell it "Haswell".
  EXPECT_EQ(upper_case(blas_record().at("core")), upper_case(chosen));
}

}  // namespace
}  // namespace hilbench
