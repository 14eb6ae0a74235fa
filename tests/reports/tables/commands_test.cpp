#include "reports/tables/commands.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/reports/sample_records.hpp"

namespace hilbench {
namespace {

TEST(Commands, RepeatEachRowByAnExactCommand) {
  const ReportInput input = sample::input();
  const View view = view_of(input);
  const std::string csv = to_csv(commands_table(view.cases, view));
  EXPECT_NE(csv.find("hilbench run sweeps/quick.yaml --filter "
                     "'^n8192-w2048\\.4096-r1\\.2-h8-d64-fp32-p1-cpu/dilated/hilbert@tokens$' "
                     "--fresh -o results/quick-repeat"),
            std::string::npos)
      << csv;
}

TEST(Commands, RepeatTheOptionsThatChangeCases) {
  ReportInput input = sample::input();
  input.meta["sweep_file"] = "my sweeps/a.yaml";
  input.meta["command"] = "hilbench run a.yaml --axis threads=1,2 --device=cpu -o out";
  const View view = view_of(input);
  EXPECT_NE(to_csv(commands_table(view.cases, view))
                .find("hilbench run 'my sweeps/a.yaml' --axis threads=1,2 --device=cpu --filter "),
            std::string::npos);
}

}  // namespace
}  // namespace hilbench
