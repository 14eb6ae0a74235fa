// `hilbench report`.
#include "reports/report.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "harness/command_line/command_line.hpp"
#include "harness/pictures/sweep_orders.hpp"
#include "harness/predict/report_predictions.hpp"
#include "harness/sweep/claim_names.hpp"
#include "reports/claims/claims_file.hpp"
#include "reports/view/results.hpp"

namespace hilbench {
namespace {

struct ReportArguments {
  std::filesystem::path folder;
  std::filesystem::path output;  // empty: the folder of the results
  std::filesystem::path claims;  // empty: the claims of this build
  std::filesystem::path charts;  // empty: where packages install Vega
};

ExitCode report_command(const ReportArguments& arguments) {
  ReportInput input = read_results(arguments.folder);
  input.claims_file = arguments.claims;
  if (!arguments.claims.empty()) check_claim_names(load_claims(arguments.claims));
  input.chart_library = arguments.charts;
  add_predictions(input);
  add_order_pictures(input);
  const ReportOutput output =
      write_report(input, arguments.output.empty() ? arguments.folder : arguments.output);
  for (const std::string& note : output.notes) fmt::print(stderr, "hilbench: note: {}\n", note);
  fmt::print("{}\n", (output.folder / "report.html").string());
  return ExitCode::done;
}

}  // namespace

void add_report(Commands& commands) {
  auto arguments = std::make_shared<ReportArguments>();
  Options options =
      commands.add("report", "write a report of a run: report.html, report.md, tables and figures",
                   [arguments] { return report_command(*arguments); });
  options.argument("DIR", arguments->folder,
                   "folder with the results of a run: a store, or exported records.jsonl");
  options.path("-o", arguments->output, "folder to write to; default: DIR");
  options.path("--claims", arguments->claims,
               "claims file; default: the claims of this build (`hilbench list claims`)");
  options.path("--charts", arguments->charts,
               "folder of Vega, which draws the figures, or `none`; default: where packages install it");
  options.examples(
      {{"hilbench report results/quick", "report.html, report.md, tables and figures in the same folder"},
       {"hilbench report results/quick -o page", "in a folder of their own"}});
}

}  // namespace hilbench
