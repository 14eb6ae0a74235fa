// `hilbench site`.
#include "reports/site/site.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <optional>

#include "harness/command_line/command_line.hpp"
#include "harness/pictures/sweep_orders.hpp"
#include "harness/predict/report_predictions.hpp"
#include "harness/run/step_progress.hpp"
#include "kernels/base/text/text.hpp"
#include "reports/view/format.hpp"
#include "reports/view/results.hpp"

namespace hilbench {
namespace {

struct SiteArguments {
  std::filesystem::path folder, output;
  std::filesystem::path charts;  // empty: where packages install Vega
  std::string url;
};

ReportInput read_for_page(const std::filesystem::path& folder) {
  ReportInput input = read_results(folder);
  add_predictions(input);
  add_order_pictures(input);
  return input;
}

ExitCode site_command(const SiteArguments& arguments) {
  constexpr double kLong_s = 10;
  std::optional<StepProgress> progress(std::in_place, stderr, StatusLine::style_for(stderr), "site", kLong_s);
  const SiteOutput site =
      write_site({.folder = arguments.folder,
                  .output = arguments.output,
                  .url = arguments.url,
                  .charts = find_chart_library(arguments.charts),
                  .read = read_for_page,
                  .begins = [&](const std::string& sweep, std::size_t number, std::size_t all) {
                    progress->begin(fmt::format("{} of {}, {}", number, all, one_line(sweep)));
                  }});
  progress.reset();  // its line goes before anything is printed
  for (const std::string& note : site.notes) fmt::print(stderr, "hilbench: note: {}\n", note);
  fmt::print(stderr, "{} of {}\n", plural(site.sweeps, "sweep", "sweeps"),
             plural(site.machines, "machine", "machines"));
  fmt::print("{}\n", site.index.string());
  return ExitCode::done;
}

}  // namespace

void add_site(Commands& commands) {
  auto arguments = std::make_shared<SiteArguments>();
  Options options = commands.add("site", "write pages of all results below a folder, which need no server",
                                 [arguments] { return site_command(*arguments); });
  options.argument("FOLDER", arguments->folder, "folder above the results of runs, e.g. reports/published");
  options.path("-o", arguments->output,
               "folder to write; absent, empty, or an earlier site, which is replaced");
  options.require("-o");
  options.text("--url", arguments->url,
               "address under which the site will be published, for previews of its pages", Empty::allowed);
  options.path("--charts", arguments->charts,
               "folder of Vega, which draws the figures, or `none`; default: where packages install it");
  options.examples({{"hilbench site results -o pages", "all runs of a folder, with an index"}});
}

}  // namespace hilbench
