#include "reports/report.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/reports/sample_records.hpp"

namespace hilbench {
namespace {

TEST(Report, Writes) {
  const char* folder = std::getenv("REPORT_OUT");
  if (folder == nullptr) GTEST_SKIP();
  const ReportOutput output = write_report(sample::input(), folder);
  for (const auto& note : output.notes) puts(note.c_str());
}

}  // namespace
}  // namespace hilbench
