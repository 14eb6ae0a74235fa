// `hilbench check`: whether a folder of results may be published.
#include "reports/check/check.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <memory>

#include "harness/command_line/command_line.hpp"
#include "kernels/machine/host_name.hpp"
#include "reports/view/results.hpp"

namespace hilbench {
namespace {

PrivateNames names_here() {
  const char* home = std::getenv("HOME");
  return {.host = host_name(), .home = home == nullptr ? "" : home};
}

ExitCode check_command(const std::filesystem::path& folder) {
  const ReportInput input = read_results(folder);
  if (input.records.empty()) {
    fmt::print("{} holds no records\n", folder.string());
    return ExitCode::inconclusive;
  }
  const std::vector<CheckLine> lines = check_results(input, names_here());
  fmt::print("{}", check_text(lines, folder.string()));
  return may_be_published(lines) ? ExitCode::done : ExitCode::failed;
}

}  // namespace

void add_check(Commands& commands) {
  auto folder = std::make_shared<std::filesystem::path>();
  Options options = commands.add("check", "say whether the results of a run may be published",
                                 [folder] { return check_command(*folder); });
  options.argument("DIR", *folder, "folder with the results of a run");
  options.examples({{"hilbench check results/cpu-order", "before you send results"}});
}

}  // namespace hilbench
