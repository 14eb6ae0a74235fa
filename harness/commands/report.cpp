#include "harness/commands/commands.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "harness/commands/doctor.hpp"
#include "harness/commands/list.hpp"
#include "harness/predict/forecasts.hpp"
#include "kernels/base/files.hpp"
#include "reports/export/export.hpp"
#include "reports/records/store.hpp"
#include "reports/report.hpp"
#include "reports/two_runs.hpp"
#include "reports/view/results.hpp"

namespace hilbench {
namespace {

void write_text(const std::filesystem::path& file, const std::string& text) {
  if (!file.empty()) return write_file(file, text);
  std::cout << text << std::flush;
  if (!std::cout) throw EnvironmentError({.what = "cannot write to standard output"});
}

}  // namespace

ExitCode report_command(const ReportArguments& arguments) {
  ReportInput input = read_results(arguments.folder);
  input.claims_file = arguments.claims;
  input.chart_library = arguments.charts;
  add_forecasts(input);
  const ReportOutput output =
      write_report(input, arguments.output.empty() ? arguments.folder : arguments.output);
  for (const std::string& note : output.notes) fmt::print(stderr, "hilbench: note: {}\n", note);
  fmt::print("{}\n", (output.folder / "report.html").string());
  return ExitCode::done;
}

ExitCode compare_command(const CompareArguments& arguments) {
  const ReportInput a = read_results(arguments.folder_a), b = read_results(arguments.folder_b);
  const TwoRuns runs = pair_runs(a, b);
  const GateAnswer answer =
      arguments.fail_above_percent ? gate(runs, *arguments.fail_above_percent) : GateAnswer{};
  const Document document = two_runs_document(runs, answer.reasons);
  if (!arguments.output.empty()) {
    make_folder(arguments.output);
    write_file(arguments.output / "compare.html", to_html(document));
    write_file(arguments.output / "compare.md", to_markdown(document));
    write_file(arguments.output / "compare.csv", to_csv(two_runs_table(runs)));
  }
  fmt::print("{}", arguments.format == "markdown" ? to_markdown(document) : to_text(document));
  return answer.code;
}

ExitCode export_command(const ExportArguments& arguments) {
  const std::vector<Record> records = read_results(arguments.folder).records;
  std::ostringstream text;
  export_records(arguments.format, records, text);
  write_text(arguments.output, text.str());
  return ExitCode::done;
}

ExitCode list_command(const std::string& topic) {
  fmt::print("{}", list_text(topic));
  return ExitCode::done;
}

ExitCode doctor_command() {
  fmt::print("{}", doctor_report());
  return ExitCode::done;
}

}  // namespace hilbench
