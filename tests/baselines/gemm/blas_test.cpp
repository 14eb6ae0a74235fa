#include "baselines/gemm/blas.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <vector>

namespace hilbench {
namespace {

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
  if (blas_core_type().empty()) GTEST_SKIP() << "OpenBLAS decides on this processor";
  ASSERT_NE(chosen, nullptr);
  std::string core = blas_record().at("core");
  for (char& letter : core) letter = static_cast<char>(std::toupper(letter));
  EXPECT_EQ(core, chosen);
}

}  // namespace
}  // namespace hilbench
