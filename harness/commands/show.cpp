// `hilbench show`: the results of a folder, on the terminal.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "harness/command_line/command_line.hpp"
#include "harness/predict/report_predictions.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/base/text/text.hpp"
#include "kernels/case/variant_filter.hpp"
#include "reports/claims/answers.hpp"
#include "reports/claims/claims_file.hpp"
#include "reports/findings/findings.hpp"
#include "reports/site/findings_of_all.hpp"
#include "reports/site/poster.hpp"
#include "reports/site/results_folders.hpp"
#include "reports/site/site.hpp"
#include "reports/terminal/results.hpp"
#include "reports/view/results.hpp"
#include "reports/view/view.hpp"

namespace hilbench {
namespace {

struct ShowArguments {
  std::filesystem::path folder;
  std::string sort = row_order_names().front();
  std::string filter;
  std::string finding;  // its id; empty: the records themselves
  bool picture = false;
};

RowOrder order_of(const std::string& name) {
  const std::vector<std::string>& names = row_order_names();
  return static_cast<RowOrder>(std::find(names.begin(), names.end(), name) - names.begin());
}

[[noreturn]] void refuse_filter(const std::string& filter) {
  throw UsageError({.what = fmt::format("no record matches '{}'", filter),
                    .where = "--filter",
                    .why = "it is looked for in CASE/VARIANT",
                    .remedy = "hilbench show without --filter lists them"});
}

// As Markdown.
std::string finding_text(const std::vector<Finding>& findings, const std::string& id) {
  if (const Finding* finding = find_finding(findings, id)) return to_markdown(*finding);
  std::vector<std::string> ids;
  for (const Finding& finding : findings) ids.push_back(finding.id);
  const std::string nearest = nearest_name(id, ids);
  throw UsageError({.what = fmt::format("these records have no finding '{}'", one_line(id)),
                    .where = "--finding",
                    .why = fmt::format("they have {}", fmt::join(ids, ", ")),
                    .remedy = nearest.empty() ? "" : fmt::format("did you mean '{}'?", nearest)});
}

std::string finding_text(const ReportInput& input, const std::string& id) {
  const std::vector<ClaimRow> claims = claims_of(input);
  const View view = view_of(input);
  return finding_text(findings_of(view, answer_claims(claims, view)), id);
}

ExitCode show_command(const ShowArguments& arguments) {
  if (arguments.picture) {
    const std::string picture = poster_svg(overviews_below(arguments.folder, read_results));
    if (picture.empty())
      throw UsageError({.what = "these results test no claimed speedup",
                        .where = "--picture",
                        .why = "it shows what was claimed beside what was measured",
                        .remedy = "run the sweeps of claims: `hilbench list sweeps` names them"});
    fmt::print("{}", picture);
    return ExitCode::done;
  }
  if (!arguments.finding.empty() && std::filesystem::is_directory(arguments.folder) &&
      !has_results(arguments.folder)) {
    fmt::print("{}", finding_text(findings_of_all(overviews_below(arguments.folder, read_results)),
                                  arguments.finding));
    return ExitCode::done;
  }
  ReportInput input = read_results(arguments.folder);
  const VariantFilter filter(arguments.filter);
  bool any = false;
  const auto keep = [&](const Record& record) {
    const bool kept = filter.finds(record.case_id, record.variant_id);
    any = any || kept;
    return kept;
  };
  if (!arguments.finding.empty()) {
    add_predictions(input);
    std::erase_if(input.records, [&](const Record& record) { return !keep(record); });
    if (!any && !arguments.filter.empty()) refuse_filter(arguments.filter);
    fmt::print("{}", finding_text(input, arguments.finding));
    return ExitCode::done;
  }
  const std::string text = results_text(input, order_of(arguments.sort), screen_of(stdout), keep);
  if (!input.records.empty() && !any) refuse_filter(arguments.filter);
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
  options.argument(
      "DIR", arguments->folder,
      "folder with the results of a run, finished or not; with `--finding` also one above several");
  options.choice("--sort", arguments->sort, row_order_names(),
                 "order of the rows: by case (default), or of all cases together with the best first");
  options.text("--filter", arguments->filter,
               "keep only rows whose CASE/VARIANT contains a match of this regular expression");
  options.text(
      "--finding", arguments->finding,
      "instead of the records, print what they say about something, as Markdown: variants, rivals, windows, "
      "rings, claims, ...; of several runs together claims, misses, ...; an unknown one lists those that "
      "there "
      "are");
  options.flag("--picture", arguments->picture,
               "print the picture of a folder above several machines as SVG: claimed and measured speedup");
  options.examples(
      {{"hilbench show results/quick", "case by case"},
       {"hilbench show results/quick --sort ratio", "the largest speedups first"},
       {"hilbench show results/quick --filter '/dilated/hilbert$' | less", "one variant, plain text"},
       {"hilbench show results/quick --finding variants",
        "the sentences and the table that the report has"}});
}

}  // namespace hilbench
