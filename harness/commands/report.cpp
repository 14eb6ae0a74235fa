// `hilbench report`.
#include "reports/report.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "harness/commands/command_line.hpp"
#include "harness/predict/report_predictions.hpp"
#include "reports/view/results.hpp"

namespace hilbench {
namespace {

struct ReportArguments {
  std::filesystem::path folder;
  std::filesystem::path output;  // empty: beside the store
  std::filesystem::path claims;  // empty: those of this build
  std::filesystem::path charts;  // empty: as packages install it
};

ExitCode report_command(const ReportArguments& arguments) {
  ReportInput input = read_results(arguments.folder);
  input.claims_file = arguments.claims;
  input.chart_library = arguments.charts;
  add_predictions(input);
  const ReportOutput output =
      write_report(input, arguments.output.empty() ? arguments.folder : arguments.output);
  for (const std::string& note : output.notes) fmt::print(stderr, "hilbench: note: {}\n", note);
  fmt::print("{}\n", (output.folder / "report.html").string());
  return ExitCode::done;
}

}  // namespace

void add_report(Commands& commands) {
  auto arguments = std::make_shared<ReportArguments>();
  Options options = commands.add("report", "write report.html, report.md, tables and figures",
                                 [arguments] { return report_command(*arguments); });
  options.argument("DIR", arguments->folder, "folder of the results: a store, or exported records.jsonl");
  options.path("-o", arguments->output, "folder to write to; default: DIR");
  options.path("--claims", arguments->claims, "claims file; default: those of the seed reports");
  options.path("--charts", arguments->charts,
               "Chart.js for report.html: its minified file, or none; default: where packages put it");
}

}  // namespace hilbench
