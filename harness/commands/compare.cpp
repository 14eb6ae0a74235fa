// `hilbench compare`: two runs of a sweep against each other.
#include <fmt/format.h>

#include <memory>

#include "harness/commands/command_line.hpp"
#include "kernels/base/files.hpp"
#include "reports/compare.hpp"
#include "reports/compare_document.hpp"
#include "reports/page/page.hpp"
#include "reports/report.hpp"
#include "reports/view/results.hpp"

namespace hilbench {
namespace {

struct CompareArguments {
  std::filesystem::path folder_a, folder_b;
  std::string format = "text";   // or "markdown"
  std::filesystem::path output;  // folder for compare.html, .md and .csv; empty: none
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
  Options options = commands.add("compare", "hold two runs against each other",
                                 [arguments] { return compare_command(*arguments); });
  options.argument("DIR_A", arguments->folder_a, "folder of the results that came before");
  options.argument("DIR_B", arguments->folder_b, "folder of those that came after");
  options.choice("--format", arguments->format, {"text", "markdown"},
                 "what to print: text (default) or markdown");
  options.path("-o", arguments->output, "folder for compare.html, compare.md and compare.csv");
  options.number("--fail-above", arguments->fail_above_percent,
                 "exit status 1 where a variant takes so many percent longer in B, 3 where that is open");
}

}  // namespace hilbench
