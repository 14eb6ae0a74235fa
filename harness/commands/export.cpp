// `hilbench export`: the records in formats that other tools read.
#include "reports/export/export.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <iostream>
#include <memory>
#include <sstream>
#include <string_view>
#include <system_error>

#include "harness/command_line/command_line.hpp"
#include "kernels/base/files/files.hpp"
#include "kernels/base/text/error.hpp"
#include "kernels/base/text/text.hpp"
#include "reports/export/history.hpp"
#include "reports/site/results_folders.hpp"
#include "reports/view/format.hpp"
#include "reports/view/results.hpp"

namespace hilbench {
namespace {

struct ExportArguments {
  std::filesystem::path folder;
  std::string format;
  std::filesystem::path output;  // empty: standard output
};

// Writing there would replace the records that are exported, or a store.
void refuse_records(const std::filesystem::path& folder, const std::filesystem::path& output) {
  bool replaces = output.filename() == "results.sqlite";
  for (const char* name : {"results.sqlite", "records.jsonl", "records.jsonl.gz", "meta.json"}) {
    std::error_code absent;
    replaces = replaces || std::filesystem::equivalent(folder / name, output, absent);
  }
  if (replaces)
    throw UsageError({.what = "an export must not replace records",
                      .where = fmt::format("-o {}", output.string()),
                      .remedy = "give another file"});
}

// The runs in the folders of `folder`, or the one that it holds itself.
History read_history(const std::filesystem::path& folder) {
  std::vector<HistoryRun> runs;
  if (has_results(folder)) {
    runs.push_back({folder.filename().string(), read_results(folder).records});
  } else {
    for (const MachineFolder& above : machine_folders(folder))
      for (const SweepFolder& run : above.sweeps) runs.push_back({run.name, read_results(run.path).records});
  }
  return history_of(std::move(runs));
}

// With -o also the configuration that makes Otava read the file, beside it.
ExitCode export_history(const ExportArguments& arguments) {
  const History history = read_history(arguments.folder);
  for (const std::string& note : history.notes) fmt::print(stderr, "hilbench: note: {}\n", note);
  if (arguments.output.empty()) {
    export_otava(history, std::cout);
    std::cout << std::flush;
    if (!std::cout) throw EnvironmentError({.what = "cannot write to standard output"});
    return ExitCode::done;
  }
  std::filesystem::path config = arguments.output;
  config.replace_extension(".yaml");
  if (config == arguments.output)
    throw UsageError({.what = "the configuration would replace the runs",
                      .where = fmt::format("-o {}", arguments.output.string()),
                      .remedy = "give a file that ends in .csv"});
  write_file(arguments.output, [&](std::ostream& out) { export_otava(history, out); });
  write_file(config, [&](std::ostream& out) { export_otava_config(history, arguments.output, out); });
  fmt::print(stderr, "{}, {}: otava analyze hilbench --config-file {}\n",
             plural(history.runs.size(), "run", "runs"),
             plural(history.metrics.size(), "variant", "variants"), shell_quoted(config.string()));
  return ExitCode::done;
}

ExitCode export_command(const ExportArguments& arguments) {
  if (!arguments.output.empty()) refuse_records(arguments.folder, arguments.output);
  if (arguments.format == kOtava) return export_history(arguments);
  const ReportInput input = read_results(arguments.folder);
  const auto hostname = input.meta.find("hostname");
  std::ostringstream text;
  export_records(arguments.format, input.records, text,
                 hostname == input.meta.end() ? "" : std::string_view(hostname->second));
  if (!arguments.output.empty()) {
    write_file(arguments.output, text.str());
    return ExitCode::done;
  }
  std::cout << text.str() << std::flush;
  if (!std::cout) throw EnvironmentError({.what = "cannot write to standard output"});
  return ExitCode::done;
}

}  // namespace

void add_export(Commands& commands) {
  auto arguments = std::make_shared<ExportArguments>();
  Options options = commands.add("export", "write the records of a run in a format that other tools read",
                                 [arguments] { return export_command(*arguments); });
  options.argument("DIR", arguments->folder,
                   "folder with the results of a run; for otava also one above several runs");
  options.text("--format", arguments->format,
               fmt::format("{}, {}", fmt::join(export_formats(), ", "), kOtava), Empty::allowed);
  options.require("--format");
  options.path("-o", arguments->output, "file to write; default: standard output");
  options.examples(
      {{"hilbench export results/quick --format csv -o quick.csv", "for pandas, R or a spreadsheet"},
       {"hilbench export results/quick --format jsonl | jq .speedup", "all that is known, for scripts"},
       {"hilbench export results/history --format otava -o history.csv",
        "the runs in a folder, one for each commit, for Apache Otava"}});
}

}  // namespace hilbench
