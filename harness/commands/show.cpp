// `hilbench show`: the results of a folder, on the terminal.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "harness/command_line/command_line.hpp"
#include "kernels/case/variant_filter.hpp"
#include "reports/terminal/results.hpp"
#include "reports/view/results.hpp"

namespace hilbench {
namespace {

struct ShowArguments {
  std::filesystem::path folder;
  std::string sort = row_order_names().front();
  std::string filter;
};

RowOrder order_of(const std::string& name) {
  const std::vector<std::string>& names = row_order_names();
  return static_cast<RowOrder>(std::find(names.begin(), names.end(), name) - names.begin());
}

ExitCode show_command(const ShowArguments& arguments) {
  const ReportInput input = read_results(arguments.folder);
  const VariantFilter filter(arguments.filter);
  bool any = false;
  const auto keep = [&](const Record& record) {
    const bool kept = filter.finds(record.case_id, record.variant_id);
    any = any || kept;
    return kept;
  };
  const std::string text = results_text(input, order_of(arguments.sort), screen_of(stdout), keep);
  if (!input.records.empty() && !any)
    throw UsageError({.what = fmt::format("no record matches '{}'", arguments.filter),
                      .where = "--filter",
                      .why = "it is looked for in CASE/VARIANT",
                      .remedy = "hilbench show without --filter lists them"});
  if (input.records.empty())
    fmt::print("{} holds no records\n", arguments.folder.string());
  else
    fmt::print("{}", text);
  return ExitCode::done;
}

}  // namespace

void add_show(Commands& commands) {
  auto arguments = std::make_shared<ShowArguments>();
  Options options = commands.add("show", "print the results of a run as a table on the terminal",
                                 [arguments] { return show_command(*arguments); });
  options.argument("DIR", arguments->folder, "folder with the results of a run, finished or not");
  options.choice("--sort", arguments->sort, row_order_names(),
                 "order of the rows: by case (default), or of all cases together with the best first");
  options.text("--filter", arguments->filter,
               "keep only rows whose CASE/VARIANT contains a match of this regular expression");
  options.examples(
      {{"hilbench show results/quick", "case by case"},
       {"hilbench show results/quick --sort ratio", "the largest speedups first"},
       {"hilbench show results/quick --filter '/dilated/hilbert$' | less", "one variant, plain text"}});
}

}  // namespace hilbench
