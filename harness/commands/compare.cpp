// `hilbench compare`: which variants became faster or slower between two runs.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>

#include "harness/command_line/command_line.hpp"
#include "kernels/base/files/files.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/case/variant_filter.hpp"
#include "reports/compare_document.hpp"
#include "reports/gate/gate_runs.hpp"
#include "reports/page/page.hpp"
#include "reports/side_by_side_document.hpp"
#include "reports/site/new_folder.hpp"
#include "reports/view/compared_runs.hpp"
#include "reports/view/results.hpp"

namespace hilbench {
namespace {

struct CompareArguments {
  std::filesystem::path folder_a, folder_b;
  std::vector<std::string> further;  // folders of other runs of A
  std::string format = "text";       // or "markdown"
  std::filesystem::path output;      // folder for compare.html, .md and .csv; empty: they are not written
  std::optional<double> fail_above;
  std::string filter;
  bool with_baselines = false;
  bool allow_unlike = false;
  bool side_by_side = false;
};

std::vector<std::string> reasons_of(const GateResult& result) {
  std::vector<std::string> reasons = {headline(result)};
  reasons.insert(reasons.end(), result.disturbances.begin(), result.disturbances.end());
  reasons.insert(reasons.end(), result.missing.begin(), result.missing.end());
  reasons.insert(reasons.end(), result.notes.begin(), result.notes.end());
  for (const GateRow& row : worst_first(result))
    if (row.broken || (row.judged && row.verdict != GateVerdict::ok && row.verdict != GateVerdict::faster))
      reasons.push_back(row_sentence(row));
  return reasons;
}

VariantFilter filter_of(const std::string& text, const ReportInput& run) {
  const VariantFilter filter(text);
  const auto matches = [&](const Record& record) { return filter.finds(record.case_id, record.variant_id); };
  if (std::none_of(run.records.begin(), run.records.end(), matches))
    throw UsageError({.what = fmt::format("'{}' matches no variant of the second run", text),
                      .where = "--filter",
                      .remedy = "`hilbench show DIR` lists them; the text searched is CASE/VARIANT"});
  return filter;
}

void refuse_judging(const CompareArguments& arguments) {
  const char* option = arguments.fail_above         ? "--fail-above"
                       : arguments.allow_unlike     ? "--allow-unlike"
                       : arguments.with_baselines   ? "--with-baselines"
                       : !arguments.filter.empty()  ? "--filter"
                       : !arguments.further.empty() ? "--baseline"
                                                    : nullptr;
  if (option != nullptr)
    throw UsageError({.what = "runs side by side are not judged",
                      .where = fmt::format("--side-by-side {}", option),
                      .remedy = "leave one of them out"});
}

struct DrawnBeside {
  std::vector<Picture> pictures;
  std::vector<std::string> notes;
};

// Draws into `folder`/figures. Two pictures in one page may not share the ids of their clips.
DrawnBeside draw_beside(const ComparedRuns& runs, const std::vector<SideBySide>& pairs,
                        const std::filesystem::path& folder) {
  const ChartLibrary charts = find_chart_library({});
  std::filesystem::create_directory(folder / "figures");
  Drawn drawn = draw(side_by_side_data(runs, pairs), charts, folder / "figures");
  if (!charts.note.empty()) drawn.notes.push_back(charts.note);
  DrawnBeside beside{.notes = drawn.notes};
  for (const auto& [name, title, caption] : drawn.figures) {
    const std::string svg = read_text(folder / "figures" / (name + ".svg"), "a figure", kMostInputBytes);
    beside.pictures.push_back(
        {name, title, caption,
         std::regex_replace(svg, std::regex("(id=\"|url\\(#)clip"), "$1" + name + "-clip")});
  }
  return beside;
}

ExitCode show_side_by_side(const CompareArguments& arguments) {
  refuse_judging(arguments);
  const ReportInput a = read_results(arguments.folder_a), b = read_results(arguments.folder_b);
  const ComparedRuns runs = compare_runs(a, b);
  const std::vector<SideBySide> pairs = side_by_side(runs);
  std::vector<std::string> notes = {"Figures: -o DIR draws them."};
  DrawnBeside drawn;
  if (!arguments.output.empty()) {
    add_to_folder(arguments.output, [&](const std::filesystem::path& made) {
      drawn = draw_beside(runs, pairs, made);
      notes = drawn.notes;
      const Document document = side_by_side_document(runs, pairs, drawn.pictures, notes);
      write_file(made / "compare.html", to_html(document));
      write_file(made / "compare.md", to_markdown(document));
      write_file(made / "compare.csv", to_csv(side_by_side_table(pairs)));
    });
  }
  const Document document = side_by_side_document(runs, pairs, drawn.pictures, notes);
  fmt::print("{}", arguments.format == "markdown" ? to_markdown(document) : to_text(document));
  return ExitCode::done;
}

ExitCode compare_command(const CompareArguments& arguments) {
  if (arguments.side_by_side) return show_side_by_side(arguments);
  expect_threshold(arguments.fail_above, "--fail-above");
  std::vector<ReportInput> baselines;
  baselines.push_back(read_results(arguments.folder_a));
  for (const std::string& folder : arguments.further) baselines.push_back(read_results(folder));
  const ReportInput b = read_results(arguments.folder_b);
  const ComparedRuns runs = compare_runs(baselines.front(), b);
  StoredGateOptions options{.threshold = arguments.fail_above.value_or(kDefaultThreshold),
                            .rivals = arguments.with_baselines ? Rivals::judged : Rivals::shown,
                            .unlike = arguments.allow_unlike ? Unlike::allowed : Unlike::refused};
  if (!arguments.filter.empty()) options.filter = filter_of(arguments.filter, b);
  const GateResult result = gate_runs(baselines, b, runs, options);
  const Document document =
      compare_document(runs, arguments.fail_above ? reasons_of(result) : std::vector<std::string>{});
  if (!arguments.output.empty()) {
    add_to_folder(arguments.output, [&](const std::filesystem::path& made) {
      write_file(made / "compare.html", to_html(document));
      write_file(made / "compare.md", to_markdown(document));
      write_file(made / "compare.csv", to_csv(compare_table(runs)));
      write_file(made / "gate.csv", gate_csv(result));
    });
  }
  fmt::print("{}",
             arguments.format == "markdown" ? to_markdown(document) : to_text(document, screen_of(stdout)));
  if (arguments.fail_above) return exit_code(result);
  if (!result.unlike) return ExitCode::done;
  fmt::print(
      stderr,
      "hilbench: {}: --side-by-side shows both without a verdict, --allow-unlike judges all the same\n",
      result.disturbed);
  return ExitCode::inconclusive;
}

}  // namespace

void add_compare(Commands& commands) {
  auto arguments = std::make_shared<CompareArguments>();
  Options options = commands.add("compare", "compare two runs: which variants became faster or slower",
                                 [arguments] { return compare_command(*arguments); });
  options.argument("DIR_A", arguments->folder_a, "folder with the results of the first run");
  options.argument("DIR_B", arguments->folder_b, "folder with the results of the second run");
  options.texts("--baseline", arguments->further, "folder with another run of A; may be repeated");
  options.text("--filter", arguments->filter,
               "judge only variants whose CASE/VARIANT contains a match of this regular expression; all are "
               "shown");
  options.flag("--with-baselines", arguments->with_baselines,
               "judge rivals too; without this they are only shown");
  options.flag("--allow-unlike", arguments->allow_unlike,
               "judge although machines, builds, threads or options differ");
  options.flag("--side-by-side", arguments->side_by_side,
               "show both runs without a verdict, also of unlike machines; with -o also as figures");
  options.choice("--format", arguments->format, {"text", "markdown"}, "print text (default) or markdown");
  options.path(
      "-o", arguments->output,
      "folder to write compare.html, compare.md, compare.csv and gate.csv, or figures, to; default: none");
  options.share(
      "--fail-above", arguments->fail_above,
      "judge as a gate: exit with 1 if a variant takes more than this share longer in B (5% or 0.05), "
      "with 3 if it cannot be decided");
  options.examples(
      {{"hilbench compare results/before results/after", "ratios of both runs, case by case"},
       {"hilbench compare results/before results/after --fail-above 5%", "for scripts: 1 if slower"},
       {"hilbench compare h100/videos h200/videos --side-by-side -o out",
        "two machines: table and figures"}});
}

}  // namespace hilbench
