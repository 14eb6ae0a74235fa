// `hilbench sectors`: whether the sectors that hardware counted are those that are derived.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "harness/command_line/command_line.hpp"
#include "harness/plan/compared_sectors.hpp"
#include "reports/terminal/table_text.hpp"
#include "reports/view/results.hpp"

namespace hilbench {
namespace {

struct SectorArguments {
  std::vector<std::string> folders;
  bool markdown = false;
};

ExitCode sectors_command(const SectorArguments& arguments) {
  SectorComparison comparison;
  for (const std::string& folder : arguments.folders)
    for (const Record& record : read_results(folder).records) comparison.add(record);
  const ComparedSectors& found = comparison.found();
  const Table table = compared_table(found);
  fmt::print("{}", arguments.markdown ? to_markdown(table) : table_text(table, screen_of(stdout)));
  for (const SectorDifference& each : found.differences)
    fmt::print("{}: {} is {:.0f}, derived {:.0f}\n", each.record, each.counter, each.counted, each.derived);
  if (found.compared() == 0) {
    fmt::print("no record here has sectors that a GPU counted and that can be derived\n");
    return ExitCode::inconclusive;
  }
  fmt::print("{}{} values of {} records were compared, {} differ.\n", arguments.markdown ? "\n" : "",
             found.values, found.compared(), found.differences.size());
  if (const Deviations& reads = found.l2_reads; !reads.shares.empty())
    fmt::print(
        "{} counts of L2 reads of {} records are compared with sectors asked for, less those that the L1\n"
        "had or the coalescer merged, and a quarter of what TMA gets from DRAM.\n{}.\n",
        reads.shares.size(), reads.records.size(), to_text(reads));
  if (const Deviations& bytes = found.dram_bytes; !bytes.shares.empty())
    fmt::print(
        "DRAM bytes of {} records were counted several times. Their standard deviation, of their mean or of\n"
        "the bytes that must be moved, whichever is more.\n{}.\n",
        bytes.records.size(), to_text(bytes));
  return found.differences.empty() ? ExitCode::done : ExitCode::failed;
}

}  // namespace

void add_sectors(Commands& commands) {
  auto arguments = std::make_shared<SectorArguments>();
  Options options =
      commands.add("sectors", "say whether the sectors that GPUs counted are those that are derived",
                   [arguments] { return sectors_command(*arguments); });
  options.arguments("DIR", arguments->folders, "folders with the results of runs on GPUs");
  options.flag("--markdown", arguments->markdown, "print the table as Markdown");
  options.examples({{"hilbench sectors results/cache-order", "after a run on a GPU"}});
}

}  // namespace hilbench
