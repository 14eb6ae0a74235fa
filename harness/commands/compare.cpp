// `hilbench compare`: which variants became faster or slower between two runs.
#include "reports/compare.hpp"

#include <fmt/format.h>

#include <memory>

#include "harness/commands/command_line.hpp"
#include "kernels/base/files.hpp"
#include "reports/compare_document.hpp"
#include "reports/page/page.hpp"
#include "reports/report.hpp"
#include "reports/view/results.hpp"

namespace hilbench {
namespace {

struct CompareArguments {
  std::filesystem::path folder_a, folder_b;
  std::string format = "text";   // or "markdown"
  std::filesystem::path output;  // folder for compare.html, .md and .csv; empty: they are not written
  std::optional<double> fail_above_percent;
};

ExitCode compare_command(const CompareArguments& arguments) {
  const ReportInput a = read_results(arguments.folder_a), b = read_results(arguments.folder_b);
  const ComparedRuns runs = compare_runs(a, b);
  const GateAnswer answer =
      arguments.fail_above_percent ? gate(runs, *arguments.fail_above_percent) : GateAnswer{};
  const Document document = compare_document(runs, answer.reasons);
  if (!arguments.output.empty()) {
    make_folder(arguments.output);
    write_file(arguments.output / "compare.html", to_html(document));
    write_file(arguments.output / "compare.md", to_markdown(document));
    write_file(arguments.output / "compare.csv", to_csv(compare_table(runs)));
  }
  fmt::print("{}", arguments.format == "markdown" ? to_markdown(document) : to_text(document));
  return answer.code;
}

}  // namespace

void add_compare(Commands& commands) {
  auto arguments = std::make_shared<CompareArguments>();
  Options options = commands.add("compare", "compare two runs: which variants became faster or slower",
                                 [arguments] { return compare_command(*arguments); });
  options.argument("DIR_A", arguments->folder_a, "folder with the results of the first run");
  options.argument("DIR_B", arguments->folder_b, "folder with the results of the second run");
  options.choice("--format", arguments->format, {"text", "markdown"}, "print text (default) or markdown");
  options.path("-o", arguments->output,
               "folder to write compare.html, compare.md and compare.csv to; default: none");
  options.number("--fail-above", arguments->fail_above_percent,
                 "exit with status 1 if a variant takes this many percent longer in B, with 3 if the data "
                 "leave it open");
}

}  // namespace hilbench
