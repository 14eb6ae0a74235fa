// `hilbench agree`: a run held against what is published of the same sweep.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "harness/command_line/command_line.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/base/text/text.hpp"
#include "reports/agreement_document.hpp"
#include "reports/site/results_folders.hpp"
#include "reports/view/results.hpp"

namespace hilbench {
namespace {

namespace fs = std::filesystem;

struct AgreeArguments {
  fs::path folder;
  fs::path published = "reports/published";
  std::string format = "text";
};

// "" if nothing says it.
std::string sweep_of(const ReportInput& input) {
  const auto known = input.meta.find("sweep");
  if (known != input.meta.end()) return known->second;
  return input.records.empty() ? "" : input.records.front().sweep;
}

std::vector<PublishedRun> published_runs(const AgreeArguments& arguments, const std::string& sweep) {
  std::vector<PublishedRun> runs;
  std::error_code ignored;
  if (!fs::is_directory(arguments.published, ignored))
    throw UsageError({.what = "no published results here",
                      .where = arguments.published.string(),
                      .why = "",
                      .remedy = "name the folder above them by --with; the source has reports/published"});
  for (const MachineFolder& machine : machine_folders(arguments.published))
    for (const SweepFolder& folder : machine.sweeps) {
      if (fs::equivalent(folder.path, arguments.folder, ignored)) continue;
      if (const std::string stored = stored_sweep(folder.path); !stored.empty() && stored != sweep) continue;
      ReportInput input = read_results(folder.path);
      if (sweep_of(input) == sweep)
        runs.push_back({fmt::format("{}/{}", machine.name, folder.name), std::move(input)});
    }
  if (runs.empty())
    throw UsageError({.what = fmt::format("nothing is published of the sweep '{}'", one_line(sweep)),
                      .where = arguments.published.string(),
                      .why = "a run is held against runs of the same sweep",
                      .remedy = "name a folder above other runs by --with"});
  return runs;
}

ExitCode agree_command(const AgreeArguments& arguments) {
  const ReportInput run = read_results(arguments.folder);
  const std::string sweep = sweep_of(run);
  if (sweep.empty())
    throw UsageError(
        {.what = "the records do not say of which sweep they are", .where = arguments.folder.string()});
  const Document document = agreement_document(run, published_runs(arguments, sweep));
  fmt::print("{}",
             arguments.format == "markdown" ? to_markdown(document) : to_text(document, screen_of(stdout)));
  return ExitCode::done;
}

}  // namespace

void add_agree(Commands& commands) {
  auto arguments = std::make_shared<AgreeArguments>();
  Options options = commands.add("agree", "say which published verdicts on the same sweep a run replicates",
                                 [arguments] { return agree_command(*arguments); });
  options.argument("DIR", arguments->folder, "folder with the results of a run");
  options.path(
      "--with", arguments->published,
      "folder above published results, or above other runs; default: reports/published, of the source");
  options.choice("--format", arguments->format, {"text", "markdown"}, "print text (default) or markdown");
  options.examples(
      {{"hilbench agree results/guide-speedup", "a run of a sweep in sweeps/claims/, on your machine"},
       {"hilbench agree results/again --with results", "against your own earlier runs"}});
}

}  // namespace hilbench
