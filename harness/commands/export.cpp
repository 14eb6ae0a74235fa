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

ExitCode export_command(const ExportArguments& arguments) {
  if (!arguments.output.empty()) refuse_records(arguments.folder, arguments.output);
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
  options.argument("DIR", arguments->folder, "folder with the results of a run");
  options.text("--format", arguments->format, fmt::format("{}", fmt::join(export_formats(), ", ")),
               Empty::allowed);
  options.require("--format");
  options.path("-o", arguments->output, "file to write; default: standard output");
  options.examples(
      {{"hilbench export results/quick --format csv -o quick.csv", "for pandas, R or a spreadsheet"},
       {"hilbench export results/quick --format jsonl | jq .speedup", "all that is known, for scripts"}});
}

}  // namespace hilbench
